import { type IncomingMessage, request } from 'node:http';
import { abortable } from '../../../base/abortable.ts';
import type { Clock } from '../../../base/clock.ts';
import { deadline } from '../../../base/deadline.ts';
import { errorText } from '../../../base/error-text.ts';
import { SpdyClient } from '../../../base/spdy/spdy-client.ts';

const VERSION_HEADER = 'x-stream-protocol-version';
/** What may wait in one stream for its reader before the runtime is made to pause. */
const STREAM_BUFFER_BYTES = 256 << 10;
/** Of what a server says in place of going over to SPDY. */
const MAX_REFUSAL_BYTES = 1 << 10;

export interface StreamingDial {
  /** Time for the runtime's streaming server to answer, and to open streams: it is on this machine. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * Connects to a URL that a runtime answered to Exec, Attach or PortForward, by SPDY/3.1 in this protocol. An abort of `signal` ends the dialing
 * alone. Rejects with what the server says instead, in words that name it.
 */
export async function dialStreamingUrl(
  url: string,
  protocol: string,
  { timeoutMs, clock }: StreamingDial,
  signal: AbortSignal,
): Promise<SpdyClient> {
  const { protocol: scheme, host } = new URL(url);
  if (scheme !== 'http:') {
    throw new Error(
      `the runtime's streaming server at ${host} wants ${scheme.slice(0, -1)}: only http is spoken; set it to plain loopback`,
    );
  }
  using own = deadline(clock, timeoutMs, `the answer of the runtime's streaming server at ${host}`, signal);
  try {
    return await dial(url, protocol, clock, own.signal);
  } catch (error) {
    own.signal.throwIfAborted();
    throw new Error(`the runtime's streaming server at ${host} cannot be used: ${errorText(error)}`, { cause: error });
  }
}

function dial(url: string, protocol: string, clock: Clock, signal: AbortSignal): Promise<SpdyClient> {
  return abortable(signal, (resolve, reject) => {
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', [VERSION_HEADER]: protocol };
    // One connection a session: none is kept for the next.
    const asked = request(url, { method: 'POST', headers, agent: false });
    asked.on('error', reject);
    asked.on('upgrade', (answer, socket, head) => {
      const fault = upgradeFault(answer, protocol);
      if (fault === undefined) resolve(new SpdyClient(socket, head, { streamBufferBytes: STREAM_BUFFER_BYTES, clock }));
      else {
        socket.destroy();
        reject(new Error(fault));
      }
    });
    asked.on('response', (answer) => {
      refusal(answer).then((text) => reject(new Error(`HTTP ${answer.statusCode}: ${text}`)), reject);
    });
    asked.end();
    return (aborted) => {
      if (aborted) asked.destroy();
    };
  });
}

function upgradeFault({ headers }: IncomingMessage, protocol: string): string | undefined {
  const { upgrade = '' } = headers;
  if (upgrade.toLowerCase() !== 'spdy/3.1') return `it went on with ${JSON.stringify(upgrade)}, not with SPDY/3.1`;
  const chosen = headers[VERSION_HEADER];
  return chosen === protocol ? undefined : `it speaks ${JSON.stringify(chosen ?? '')}, not ${protocol}`;
}

async function refusal(answer: IncomingMessage): Promise<string> {
  let text = '';
  answer.setEncoding('utf8');
  for await (const part of answer) {
    text += String(part);
    if (text.length >= MAX_REFUSAL_BYTES) break;
  }
  return text.slice(0, MAX_REFUSAL_BYTES).trim() || 'without a word';
}
