/** Where a request goes. */
export type RequestTarget =
  /** `search` is the query as it came. */
  | { readonly path: string; readonly search: string }
  /** What to ask for instead, and the plain path that this is. */
  | { readonly path: string; readonly redirect: string }
  | { readonly fault: string };

/** Longer than any path that is served: that of a file below /logs/ is the longest. */
const LONGEST_PATH = 16 * 1024;
/** More than a command line that a shell would take has words. A million short ones take seconds to be read. */
const MOST_PARAMETERS = 20_000;

/**
 * Reads a request line's target. What is checked is what is routed: escapes are undone first, and a path with empty, "." or ".." segments is
 * sent to its plain form as Go's ServeMux does (net/http cleanPath), so that none reaches a handler.
 */
export function requestTarget(url: string): RequestTarget {
  const origin = originForm(url);
  if (origin === undefined) return { fault: 'malformed request target' };
  const at = origin.indexOf('?');
  const search = at < 0 ? '' : origin.slice(at);
  const escaped = at < 0 ? origin : origin.slice(0, at);
  if (escaped.length > LONGEST_PATH) return { fault: 'the path of the request target is too long' };
  let path: string;
  try {
    path = decodeURIComponent(escaped);
  } catch {
    return { fault: 'malformed escape in the request target' };
  }
  const plain = cleanPath(path);
  if (plain === path) return { path, search };
  return { path: plain, redirect: plain.split('/').map(encodeURIComponent).join('/') + search };
}

/** The parameters of a query as it came; undefined where there are too many to be meant. */
export function queryOf(search: string): URLSearchParams | undefined {
  let count = 0;
  for (let at = search.indexOf('&'); at >= 0; at = search.indexOf('&', at + 1)) if (++count >= MOST_PARAMETERS) return undefined;
  return new URLSearchParams(search);
}

/** "/path?query", also of "http://host/path?query". */
function originForm(url: string): string | undefined {
  if (url.startsWith('/')) return url.replace(/#.*/s, '');
  const parsed = URL.parse(url);
  return parsed && (parsed.protocol === 'http:' || parsed.protocol === 'https:') ? parsed.pathname + parsed.search : undefined;
}

/** One slash between segments, dots followed; a trailing slash stays. */
function cleanPath(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/');
  for (const segment of segments) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  const plain = `/${kept.join('/')}`;
  return plain !== '/' && segments.at(-1) === '' ? `${plain}/` : plain;
}
