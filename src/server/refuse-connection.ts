import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import { closeSocket } from '../base/close-socket.ts';

export type AnswerHeaders = readonly (readonly [name: string, value: string])[];

/** How long a client may take to receive its refusal, and then to close its side: no listener watches these connections. */
const REFUSAL_TIMES = { flushMs: 5_000, lingerMs: 1_000 } as const;

/**
 * The one way to end a connection that is not answered by a ServerResponse: a plain text answer, then the end, whether or not the client
 * reads, goes on sending, or closes its own side. Resolves when the socket is closed.
 */
export async function refuseConnection(
  socket: Duplex,
  clock: Clock,
  status: number,
  text: string,
  headers: AnswerHeaders = [],
): Promise<void> {
  socket.on('error', () => socket.destroy());
  const all: AnswerHeaders = [
    ...headers.filter(([name]) => name !== 'Connection'),
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['X-Content-Type-Options', 'nosniff'],
    ['Content-Length', String(Buffer.byteLength(text))],
    ['Connection', 'close'],
  ];
  socket.end(answerHead(status, all) + text);
  await closeSocket(socket, clock, REFUSAL_TIMES);
}

/** Everything up to the body, the empty line included. */
export function answerHead(status: number, headers: AnswerHeaders): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}\r\n`;
}
