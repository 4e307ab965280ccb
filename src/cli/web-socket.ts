import { hash, randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { AgentClient } from './agent-client.ts';
import { CommandError } from './command-io.ts';

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** More than an agent ever sends in one message. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const CONTINUATION = 0;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** The client's end of a WebSocket (RFC 6455): messages of bytes, whole. */
export interface WebSocketClient {
  /** What the server chose of what was offered. */
  readonly protocol: string;
  /** False: wait for `drained` before sending more. */
  send(bytes: Uint8Array): boolean;
  drained(): Promise<void>;
  /** Each message once. Ends when the server has closed or gone; throws CommandError for what no server may send. */
  readonly messages: AsyncIterable<Buffer>;
  close(): void;
}

export async function openWebSocket(
  agent: Pick<AgentClient, 'upgrade'>,
  path: string,
  protocols: readonly string[],
): Promise<WebSocketClient> {
  const key = randomBytes(16).toString('base64');
  const { response, socket, head } = await agent.upgrade(path, {
    Upgrade: 'websocket',
    'Sec-WebSocket-Key': key,
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Protocol': protocols.join(', '),
  });
  const protocol = response.headers['sec-websocket-protocol'] ?? '';
  if (response.headers['sec-websocket-accept'] !== hash('sha1', key + MAGIC, 'base64') || !protocols.includes(protocol)) {
    socket.destroy();
    throw new CommandError('the agent did not take up the protocol');
  }
  // The reader of the messages gets the error.
  socket.on('error', () => {});
  if (head.length > 0) socket.unshift(head);
  return {
    protocol,
    send: (bytes) => socket.write(clientFrame(BINARY, bytes)),
    drained: () => drained(socket),
    messages: messages(socket),
    close: () => socket.end(clientFrame(CLOSE, Buffer.from([0x03, 0xe8]))),
  };
}

/** Masked, as everything from a client is. */
function clientFrame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  header[0] = 0x80 | opcode;
  header[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (header.length === 4) header.writeUInt16BE(length, 2);
  else if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomBytes(4);
  const masked = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; at++) masked[at] = (payload[at] ?? 0) ^ (mask[at & 3] ?? 0);
  return Buffer.concat([header, mask, masked]);
}

async function* messages(socket: Duplex): AsyncGenerator<Buffer, void, undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const { opcode, final, payload } of frames(socket)) {
      if (opcode === CLOSE) return;
      if (opcode === PING) socket.write(clientFrame(PONG, payload));
      if (opcode !== CONTINUATION && opcode !== BINARY) continue;
      parts.push(payload);
      length += payload.length;
      if (length > MAX_MESSAGE_BYTES) throw new CommandError('the agent sent a message that is too long');
      if (!final) continue;
      yield Buffer.concat(parts);
      parts.length = 0;
      length = 0;
    }
  } finally {
    socket.destroy();
  }
}

interface Frame {
  readonly opcode: number;
  readonly final: boolean;
  readonly payload: Buffer;
}

async function* frames(socket: Duplex): AsyncGenerator<Frame, void, undefined> {
  const bytes = new ByteReader(socket);
  try {
    for (;;) {
      const head = await bytes.take(2);
      if (!head) return;
      const [first = 0, second = 0] = head;
      const short = second & 0x7f;
      const extended = short < 126 ? undefined : await bytes.take(short === 126 ? 2 : 8);
      if (short >= 126 && !extended) return;
      const length =
        extended === undefined ? short : extended.length === 2 ? extended.readUInt16BE(0) : Number(extended.readBigUInt64BE(0));
      if (length > MAX_MESSAGE_BYTES) throw new CommandError('the agent sent a message that is too long');
      const payload = await bytes.take(length);
      if (!payload) return;
      yield { opcode: first & 0x0f, final: (first & 0x80) !== 0, payload };
    }
  } finally {
    await bytes.return();
  }
}

/** Takes so many bytes at a time from a stream, however it was cut. */
class ByteReader {
  readonly #pieces: AsyncIterator<Buffer>;
  #kept: Buffer[] = [];
  #length = 0;

  constructor(stream: Duplex) {
    this.#pieces = stream[Symbol.asyncIterator]();
  }

  /** Undefined: the stream ended before. */
  async take(length: number): Promise<Buffer | undefined> {
    while (this.#length < length) {
      // A connection that breaks ends like one that is closed: what is missing then shows in what was not said on it.
      const next = await this.#pieces.next().catch(() => undefined);
      if (!next || next.done === true) return undefined;
      this.#kept.push(next.value);
      this.#length += next.value.length;
    }
    const [only = Buffer.alloc(0), ...more] = this.#kept;
    const all = more.length === 0 ? only : Buffer.concat(this.#kept);
    this.#kept = all.length > length ? [all.subarray(length)] : [];
    this.#length = all.length - length;
    return all.subarray(0, length);
  }

  async return(): Promise<void> {
    await this.#pieces.return?.();
  }
}

function drained(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (!socket.writableNeedDrain || socket.destroyed) {
      resolve();
      return;
    }
    const settle = (): void => {
      socket.off('drain', settle).off('close', settle);
      resolve();
    };
    socket.on('drain', settle).on('close', settle);
  });
}
