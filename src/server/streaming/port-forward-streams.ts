import type { SpdyHeaders } from '../../base/spdy/spdy-header-block.ts';
import type { SpdyStream } from '../../base/spdy/spdy-stream.ts';

/** Undefined for what is no port. */
export function parsePort(text: string): number | undefined {
  if (!/^[0-9]{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/** What is wrong with a new stream's headers (pkg/kubelet/cri/streaming/portforward httpStreamReceived); undefined when nothing is. */
export function portStreamFault(headers: SpdyHeaders): string | undefined {
  const port = headers.get('port') ?? '';
  if (port === '') return '"port" header is required';
  if (parsePort(port) === undefined) return `unable to parse "${port}" as a port`;
  const type = headers.get('streamtype') ?? '';
  if (type === '') return '"streamType" header is required';
  return type === 'error' || type === 'data' ? undefined : `invalid stream type "${type}"`;
}

/**
 * Which connection a stream belongs to. Old clients do not say: they open the error stream first, and the data stream next, so that its
 * number is two more.
 */
export function portRequestId(stream: Pick<SpdyStream, 'id' | 'headers'>): string {
  const id = stream.headers.get('requestid') ?? '';
  if (id !== '') return id;
  return String(stream.headers.get('streamtype') === 'error' ? stream.id : stream.id - 2);
}
