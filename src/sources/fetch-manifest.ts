import type { Clock } from '../base/clock.ts';
import { deadline } from '../base/deadline.ts';
import { MAX_MANIFEST_BYTES } from './max-manifest-bytes.ts';

export interface FetchManifestDeps {
  readonly url: string;
  /** Repeated names are sent repeatedly. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly clock: Clock;
  readonly fetch: typeof fetch;
}

/** The kubelet's client gives up then (pkg/kubelet/config/http.go). */
const DEADLINE_MS = 10_000;

export type FetchManifest = (signal: AbortSignal) => Promise<Uint8Array | 'unchanged'>;

/**
 * GETs a manifest, asking only for a newer one than the last. Follows redirects; credentials do not follow to another host. Rejects on
 * any status but 200, on an empty body, on one that is too long, after ten seconds, and when aborted.
 */
export function manifestFetcher({ url, headers, clock, fetch }: FetchManifestDeps): FetchManifest {
  const { target, authorization } = splitCredentials(url);
  let validators: readonly (readonly [string, string])[] = [];
  return async (signal) => {
    using within = deadline(clock, DEADLINE_MS, () => new Error(`no answer within ${DEADLINE_MS / 1000} s`), signal);
    const sent = new Headers();
    for (const [name, value] of [['user-agent', 'rxlet'] as const, ...authorization, ...validators]) sent.set(name, value);
    for (const name of new Set(headers.map(([name]) => name))) sent.delete(name);
    for (const [name, value] of headers) sent.append(name, value);
    const response = await fetch(target, { headers: sent, signal: within.signal });
    if (response.status === 304 && validators.length > 0) {
      await response.body?.cancel();
      return 'unchanged';
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`status ${response.status} ${response.statusText}`.trimEnd());
    }
    const body = await readBody(response);
    if (body.byteLength === 0) throw new Error('zero-length data received');
    validators = validatorsOf(response.headers);
    return body;
  };
}

/** `http://user:password@host/` is not for fetch. */
function splitCredentials(url: string): { readonly target: string; readonly authorization: readonly (readonly [string, string])[] } {
  if (!URL.canParse(url)) return { target: url, authorization: [] };
  const target = new URL(url);
  if (target.username === '' && target.password === '') return { target: url, authorization: [] };
  const pair = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
  target.username = '';
  target.password = '';
  return { target: target.href, authorization: [['authorization', `Basic ${Buffer.from(pair).toString('base64')}`]] };
}

function validatorsOf(headers: Headers): readonly (readonly [string, string])[] {
  const found = [
    ['if-none-match', headers.get('etag')],
    ['if-modified-since', headers.get('last-modified')],
  ] as const;
  return found.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

async function readBody(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  // Leaving the loop cancels what is still to come.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    total += chunk.byteLength;
    if (total > MAX_MANIFEST_BYTES) throw new Error(`longer than ${MAX_MANIFEST_BYTES} bytes`);
  }
  return Buffer.concat(chunks, total);
}
