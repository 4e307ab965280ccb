import { request, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import { SpdyClient } from './spdy-client.ts';

export interface Upgraded {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** What the server said instead of upgrading. */
  readonly body: string;
  readonly socket: Duplex | undefined;
  readonly head: Buffer;
}

/** Asks for an upgrade, and takes whatever the answer is. `make` may be https.request. */
export function upgrade(options: RequestOptions, make: typeof request = request): Promise<Upgraded> {
  return new Promise((resolve, reject) => {
    const asked = make(options);
    asked.on('error', reject);
    asked.on('upgrade', ({ statusCode = 0, headers }, socket, head) => resolve({ status: statusCode, headers, body: '', socket, head }));
    asked.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => (body += text));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, socket: undefined, head: Buffer.alloc(0) }),
      );
    });
    asked.end();
  });
}

/** Headers of kubectl's requests for exec, attach and port-forward. */
export const spdyHeaders = (...protocols: readonly string[]): Record<string, string | string[]> => ({
  connection: 'Upgrade',
  upgrade: 'SPDY/3.1',
  'x-stream-protocol-version': [...protocols],
});

/** A SPDY connection to `path`; fails on any other answer. */
export async function connectSpdy(
  options: Omit<RequestOptions, 'headers'>,
  protocols: readonly string[],
  make: typeof request = request,
): Promise<SpdyClient> {
  const { status, body, socket, head } = await upgrade({ method: 'POST', ...options, headers: spdyHeaders(...protocols) }, make);
  if (socket === undefined) throw new Error(`HTTP ${status}: ${body}`);
  return new SpdyClient(socket, head);
}
