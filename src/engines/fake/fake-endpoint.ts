import { parseGoDuration } from '../../model/go-duration.ts';

export interface FakeEngineOptions {
  /** What the quickest call takes; others take a multiple. Default 5. */
  readonly latencyMs?: number;
}

/** The options of an endpoint `fake://` or `fake://?latency=20ms`; undefined when it is another kind of endpoint. Throws on options that it does not know. */
export function fakeEndpointOptions(endpoint: string): FakeEngineOptions | undefined {
  if (!endpoint.startsWith('fake://')) return undefined;
  const query = /^fake:\/\/\/?(?:\?(.*))?$/.exec(endpoint);
  if (!query) throw new Error(`endpoint ${endpoint}: expected fake:// or fake://?latency=DURATION`);
  let options: FakeEngineOptions = {};
  for (const [key, value] of new URLSearchParams(query[1] ?? '')) {
    if (key !== 'latency') throw new Error(`endpoint ${endpoint}: unknown option "${key}", expected latency`);
    const latencyMs = Number(parseGoDuration(value)) / 1e6;
    if (latencyMs < 0) throw new Error(`endpoint ${endpoint}: latency is negative`);
    options = { ...options, latencyMs };
  }
  return options;
}
