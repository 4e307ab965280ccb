import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type AnswerHeaders, answerHead } from '../refuse-connection.ts';

export function switchProtocols(socket: Duplex, upgrade: string, headers: AnswerHeaders): void {
  socket.write(answerHead(101, [['Connection', 'Upgrade'], ['Upgrade', upgrade], ...headers]));
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
