/** Where a collector listens, in the clear. */
export type CollectorAddress = { readonly host: string; readonly port: number } | { readonly socketPath: string };

/** As Kubernetes has it where no endpoint is given (component-base/tracing/api/v1). */
export const DEFAULT_ENDPOINT = 'localhost:4317';
/** gRPC's own. */
const DEFAULT_PORT = 443;

/**
 * What an endpoint names, in gRPC's forms (github.com/grpc/grpc/blob/master/doc/naming.md): "HOST", "HOST:PORT", "dns:///HOST:PORT",
 * "dns://SERVER/HOST:PORT", whose server is not asked, "unix:PATH", "unix:///PATH", "unix-abstract:NAME". Undefined: none of them.
 */
export function collectorAddress(endpoint: string): CollectorAddress | undefined {
  const text = endpoint === '' ? DEFAULT_ENDPOINT : endpoint;
  const unix = /^unix:(?:\/\/(?=\/))?(.+)$/i.exec(text)?.[1];
  if (unix !== undefined) return { socketPath: unix };
  const abstract = /^unix-abstract:(?:\/\/(?:\/)?)?(.+)$/i.exec(text)?.[1];
  if (abstract !== undefined) return { socketPath: `\0${abstract}` };
  const target = /^dns:(?:\/\/[^/]*\/)?(.+)$/i.exec(text)?.[1] ?? text;
  const [, bracketed, plain, port] = /^(?:\[([^[\]]+)\]|([^:/[\]]+))(?::(\d{1,5}))?$/.exec(target) ?? [];
  const host = bracketed ?? plain;
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  return host === undefined || number > 65_535 ? undefined : { host, port: number };
}
