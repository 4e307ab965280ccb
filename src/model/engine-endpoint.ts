/** Where a container engine listens. */
export type EngineEndpoint = { readonly socketPath: string } | { readonly host: string; readonly port: string };

/** What is taken for an engine's endpoint, for messages. */
export const engineEndpointForms = 'unix:///PATH or tcp://HOST:PORT';

/** sockaddr_un(7): 108 bytes, with the zero at its end. */
const MAX_SOCKET_PATH_BYTES = 107;
/** So much of a refused value is repeated. */
const MAX_SHOWN = 100;

/** `unix:///PATH` or `tcp://HOST:PORT`; undefined for everything else. An IPv6 host keeps its brackets. */
export function parseEngineEndpoint(endpoint: string): EngineEndpoint | undefined {
  const [, socketPath] = /^unix:\/\/(\/.+)$/.exec(endpoint) ?? [];
  if (socketPath !== undefined) return Buffer.byteLength(socketPath) > MAX_SOCKET_PATH_BYTES ? undefined : { socketPath };
  const [, host, port] = /^tcp:\/\/(\[[0-9a-fA-F:.]+\]|[^/:[\]]+):(\d+)\/?$/.exec(endpoint) ?? [];
  return host === undefined || port === undefined || Number(port) > 65_535 ? undefined : { host, port };
}

/** Completes "NAME …" in messages; undefined: it is an endpoint. */
export function engineEndpointFault(endpoint: string): string | undefined {
  if (parseEngineEndpoint(endpoint)) return undefined;
  const shown = JSON.stringify(endpoint.length > MAX_SHOWN ? `${endpoint.slice(0, MAX_SHOWN)}…` : endpoint);
  const [, path] = /^unix:\/\/(\/.+)$/s.exec(endpoint) ?? [];
  if (path !== undefined && Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES)
    return `${shown}: a socket's path has at most ${MAX_SOCKET_PATH_BYTES} bytes, this one has ${Buffer.byteLength(path)}`;
  return `${shown}: expected ${engineEndpointForms}`;
}
