import { STATUS_CODES } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { closeSocket } from './close-socket.ts';

export type AnswerHeaders = readonly (readonly [name: string, value: string])[];

/** The client has to take a refusal within this time. */
const REFUSAL_MS = 10_000;

/** Answers an upgrade with plain text, as net/http's Error does, and closes the connection. */
export async function refuseUpgrade(
  socket: Duplex,
  clock: Clock,
  status: number,
  text: string,
  headers: AnswerHeaders = [],
): Promise<void> {
  socket.on('error', () => socket.destroy());
  const body = Buffer.from(`${text}\n`);
  socket.write(
    answerHead(status, [
      ...headers,
      ['Content-Type', 'text/plain; charset=utf-8'],
      ['X-Content-Type-Options', 'nosniff'],
      ['Content-Length', String(body.length)],
      ['Connection', 'close'],
    ]),
  );
  socket.end(body);
  await closeSocket(socket, clock, REFUSAL_MS);
}

export function switchProtocols(socket: Duplex, upgrade: string, headers: AnswerHeaders): void {
  socket.write(answerHead(101, [['Connection', 'Upgrade'], ['Upgrade', upgrade], ...headers]));
}

function answerHead(status: number, headers: AnswerHeaders): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
}

/** Every value that a header of the request lists, in all of its lines. */
export function listedValues(message: IncomingMessage, name: string): string[] {
  const lines = message.headersDistinct[name] ?? [];
  return lines
    .flatMap((line) => line.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

/** Which protocol a request wants to go on with (apimachinery/pkg/util/httpstream, apiserver/pkg/util/wsstream). */
export function wantedUpgrade(message: IncomingMessage): 'spdy' | 'websocket' | undefined {
  if (!(message.headers.connection ?? '').toLowerCase().includes('upgrade')) return undefined;
  const upgrade = (message.headers.upgrade ?? '').toLowerCase();
  if (upgrade === 'websocket') return 'websocket';
  return upgrade.includes('spdy/3.1') ? 'spdy' : undefined;
}
