/** Where a Docker engine listens. */
export type EngineEndpoint = { readonly socketPath: string } | { readonly host: string; readonly port: string };

/** What --docker-endpoint takes for a Docker engine, for messages. */
export const engineEndpointForms = 'unix:///PATH or tcp://HOST:PORT';

/** `unix:///PATH` or `tcp://HOST:PORT`; undefined for everything else. An IPv6 host keeps its brackets. */
export function parseEngineEndpoint(endpoint: string): EngineEndpoint | undefined {
  const [, socketPath] = /^unix:\/\/(\/.+)$/.exec(endpoint) ?? [];
  if (socketPath !== undefined) return { socketPath };
  const [, host, port] = /^tcp:\/\/(\[[0-9a-fA-F:.]+\]|[^/:[\]]+):(\d+)\/?$/.exec(endpoint) ?? [];
  return host === undefined || port === undefined ? undefined : { host, port };
}
