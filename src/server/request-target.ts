/** Where a request goes. */
export type RequestTarget =
  | { readonly path: string; readonly query: URLSearchParams }
  /** The same in its plain form, to be asked for instead. */
  | { readonly redirect: string }
  | { readonly fault: string };

/**
 * Reads a request line's target. What is checked is what is routed: escapes are undone first, and a path with empty, "." or ".." segments is
 * sent to its plain form as Go's ServeMux does (net/http cleanPath), so that none reaches a handler.
 */
export function requestTarget(url: string): RequestTarget {
  const origin = originForm(url);
  if (origin === undefined) return { fault: 'malformed request target' };
  const at = origin.indexOf('?');
  const search = at < 0 ? '' : origin.slice(at);
  let path: string;
  try {
    path = decodeURIComponent(at < 0 ? origin : origin.slice(0, at));
  } catch {
    return { fault: 'malformed escape in the request target' };
  }
  const plain = cleanPath(path);
  if (plain === path) return { path, query: new URLSearchParams(search) };
  return { redirect: plain.split('/').map(encodeURIComponent).join('/') + search };
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
