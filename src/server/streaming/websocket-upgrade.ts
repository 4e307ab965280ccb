import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { HttpError } from '../../ports/route.ts';
import { listedValues } from './upgrade-answer.ts';
import { WriteGate } from '../../base/spdy/write-gate.ts';

/** As golang.org/x/net/websocket: clients may send a whole file as one message. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
/** How long a client may take to answer a close. */
const CLOSE_TIMEOUT_MS = 5_000;

export interface AcceptedWebSocket<P extends string> {
  readonly webSocket: WebSocket;
  readonly protocol: P;
}

/**
 * The first of the client's subprotocols that is among ours; "" stands for none asked for. Throws HttpError with the statuses of
 * golang.org/x/net/websocket: 405, 400, 403.
 */
export async function acceptWebSocket<P extends string>(
  message: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  ours: readonly P[],
): Promise<AcceptedWebSocket<P>> {
  if (message.method !== 'GET') throw new HttpError(405, 'bad method');
  if (message.headers['sec-websocket-version'] !== '13') throw new HttpError(400, 'missing or bad WebSocket Version');
  if (message.headers['sec-websocket-key'] === undefined) throw new HttpError(400, 'mismatch challenge/response');
  const protocol = negotiate(message, ours);
  return { webSocket: await upgrade(message, socket, head, protocol), protocol };
}

function negotiate<P extends string>(message: IncomingMessage, ours: readonly P[]): P {
  const theirs = listedValues(message, 'sec-websocket-protocol');
  for (const name of theirs.length > 0 ? theirs : ['']) {
    const protocol = ours.find((own) => own === name);
    if (protocol !== undefined) return protocol;
  }
  throw new HttpError(403, `requested protocol(s) are not supported: [${theirs.join(' ')}]; supports [${ours.join(' ')}]`);
}

function upgrade(message: IncomingMessage, socket: Duplex, head: Buffer, protocol: string): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    if (!socket.readable || !socket.writable) {
      socket.destroy();
      reject(new HttpError(400, 'connection closed'));
      return;
    }
    const options: ServerOptions & { readonly closeTimeout: number } = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
      closeTimeout: CLOSE_TIMEOUT_MS,
      // It would answer each ping of a client that reads none of the answers.
      autoPong: false,
    };
    const server = new WebSocketServer(options);
    server.on('wsClientError', (error) => reject(new HttpError(400, error.message)));
    // Negotiated already, and the library would refuse the slash of SPDY/3.1 in a subprotocol's name.
    delete message.headers['sec-websocket-protocol'];
    if (protocol !== '') server.on('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
    server.handleUpgrade(message, socket, head, (webSocket) => {
      answerPings(webSocket, socket);
      resolve(webSocket);
    });
  });
}

/** Of many pings, the last may be answered alone (RFC 6455, 5.5.3): a client that reads no answers gets none. */
function answerPings(webSocket: WebSocket, socket: Duplex): void {
  const gate = new WriteGate(socket);
  webSocket.on('ping', (payload: Buffer) => {
    if (webSocket.readyState === webSocket.OPEN && gate.open) webSocket.pong(payload);
  });
}
