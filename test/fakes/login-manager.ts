import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const METHOD_CALL = 1;
const METHOD_RETURN = 2;
const SIGNAL = 4;

const PATH = '/org/freedesktop/login1';
const MANAGER = 'org.freedesktop.login1.Manager';

interface Call {
  readonly serial: number;
  readonly sender: string;
  readonly member: string;
  readonly strings: readonly string[];
}

/** A real bus of the test's own. */
export interface Bus {
  readonly address: string;
  stop(): Promise<void>;
}

/** A message bus below this directory, on which everybody may do everything. */
export async function startBus(directory: string): Promise<Bus> {
  const config = join(directory, 'bus.conf');
  const socket = join(directory, 'bus');
  await writeFile(
    config,
    `<busconfig><type>custom</type><listen>unix:path=${socket}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`,
  );
  const daemon = spawn('dbus-daemon', [`--config-file=${config}`, '--nofork', '--print-address=1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [address] = (await once(createInterface({ input: daemon.stdout }), 'line')) as [string];
  return {
    address,
    stop: async () => {
      daemon.kill('SIGKILL');
      if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, 'exit');
    },
  };
}

/**
 * What systemd-logind says on the bus of how machines go down. Its locks are file descriptors, which Node cannot send: tests have a
 * systemd-inhibit of their own.
 */
export class LoginManager {
  delayMaxUsec = 5_000_000n;
  isPreparing = false;
  /** Whether it answers at all. */
  answers = true;
  /** The units that were sent a signal, "systemd-logind.service 1"; what comes of that is `onSignal`. */
  readonly signalled: string[] = [];
  onSignal: () => void = () => {};
  readonly #socket: Socket;
  #serial = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** On this bus, under its well-known name or, as any other user of the machine, under none. */
  static async start({ address }: Bus, isReal = true): Promise<LoginManager> {
    const socket = connect(/path=([^,]*)/.exec(address)?.[1] ?? '');
    const uid = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
    socket.write(`\0AUTH EXTERNAL ${uid}\r\n`);
    await once(socket, 'data');
    socket.write('BEGIN\r\n');
    const manager = new LoginManager(socket);
    manager.#listen();
    manager.#call('Hello', '', Buffer.alloc(0));
    const named = manager.#next;
    const names = isReal ? ['org.freedesktop.login1', 'org.freedesktop.systemd1'] : [];
    for (const name of names) manager.#call('RequestName', 'su', Buffer.concat([text(name), pad(text(name).length, 4), uint32(0)]));
    await named(1 + names.length);
    return manager;
  }

  /** Tells that the machine goes down, or that it does not after all. */
  prepareForShutdown(goesDown: boolean): void {
    this.isPreparing = goesDown;
    this.#send(
      SIGNAL,
      [field(1, 'o', text(PATH)), field(2, 's', text(MANAGER)), field(3, 's', text('PrepareForShutdown'))],
      'b',
      uint32(goesDown ? 1 : 0),
    );
  }

  stop(): void {
    this.#socket.destroy();
  }

  #returns = 0;
  #waiting: { readonly count: number; readonly done: () => void } | undefined;
  readonly #next = (count: number): Promise<void> =>
    new Promise((done) => {
      if (this.#returns >= count) done();
      else this.#waiting = { count, done };
    });

  #listen(): void {
    let rest = Buffer.alloc(0);
    this.#socket.on('data', (piece: Buffer) => {
      rest = Buffer.concat([rest, piece]);
      for (;;) {
        const length = lengthOf(rest);
        if (length === undefined || rest.length < length) return;
        this.#take(rest.subarray(0, length));
        rest = rest.subarray(length);
      }
    });
  }

  #take(message: Buffer): void {
    if (message[1] === METHOD_RETURN) {
      this.#returns++;
      if (this.#waiting && this.#returns >= this.#waiting.count) this.#waiting.done();
    }
    if (message[1] === METHOD_CALL && this.answers) this.#answer(callOf(message));
  }

  #answer({ serial, sender, member, strings }: Call): void {
    const reply = (signature: string, body: Buffer): void =>
      this.#send(METHOD_RETURN, [field(5, 'u', uint32(serial)), field(6, 's', text(sender))], signature, body);
    if (member === 'KillUnit') {
      this.signalled.push(strings[0] ?? '');
      this.onSignal();
      return reply('', Buffer.alloc(0));
    }
    if (strings[1] === 'InhibitDelayMaxUSec') return reply('v', variant('t', uint64(this.delayMaxUsec)));
    if (strings[1] === 'PreparingForShutdown') return reply('v', variant('b', uint32(this.isPreparing ? 1 : 0)));
  }

  #call(member: string, signature: string, body: Buffer): void {
    const bus = 'org.freedesktop.DBus';
    const fields = [
      field(1, 'o', text('/org/freedesktop/DBus')),
      field(2, 's', text(bus)),
      field(3, 's', text(member)),
      field(6, 's', text(bus)),
    ];
    this.#send(METHOD_CALL, fields, signature, body);
  }

  #send(type: number, fields: readonly Buffer[], signature: string, body: Buffer): void {
    const all = signature === '' ? fields : [...fields, field(8, 'g', signatureText(signature))];
    let header = Buffer.alloc(0);
    for (const each of all) header = Buffer.concat([header, pad(header.length, 8), each]);
    const start = Buffer.concat([
      Buffer.from([0x6c, type, 0, 1]),
      uint32(body.length),
      uint32(++this.#serial),
      uint32(header.length),
      header,
    ]);
    this.#socket.write(Buffer.concat([start, pad(start.length, 8), body]));
  }
}

const pad = (length: number, to: number): Buffer => Buffer.alloc((to - (length % to)) % to);
function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}
const text = (value: string): Buffer => Buffer.concat([uint32(Buffer.byteLength(value)), Buffer.from(`${value}\0`)]);
const signatureText = (value: string): Buffer => Buffer.from([value.length, ...Buffer.from(value), 0]);

/** A header field: a struct of its number and a variant. */
const field = (number: number, type: string, value: Buffer): Buffer => Buffer.concat([Buffer.from([number]), signatureText(type), value]);

/** At the beginning of a body. */
function variant(type: string, value: Buffer): Buffer {
  const signature = signatureText(type);
  return Buffer.concat([signature, pad(signature.length, type === 't' ? 8 : 4), value]);
}

/** Undefined: not even the length has come. */
function lengthOf(bytes: Buffer): number | undefined {
  if (bytes.length < 16) return undefined;
  const head = 16 + bytes.readUInt32LE(12);
  return head + pad(head, 8).length + bytes.readUInt32LE(4);
}

function callOf(message: Buffer): Call {
  const end = 16 + message.readUInt32LE(12);
  const fields = new Map<number, string>();
  for (let at = 16; at < end; at += pad(at, 8).length) {
    const number = message[at] ?? 0;
    const type = String.fromCharCode(message[at + 2] ?? 0);
    at += 4;
    if (type === 'g') {
      at += (message[at] ?? 0) + 2;
      continue;
    }
    const length = message.readUInt32LE(at);
    at += 4;
    if (type === 'u') continue;
    fields.set(number, message.toString('utf8', at, at + length));
    at += length + 1;
  }
  return {
    serial: message.readUInt32LE(8),
    sender: fields.get(7) ?? '',
    member: fields.get(3) ?? '',
    strings: stringsOf(message.subarray(end + pad(end, 8).length), fields.get(3) === 'Get' ? 2 : 1),
  };
}

function stringsOf(body: Buffer, count: number): readonly string[] {
  const found: string[] = [];
  for (let at = 0; found.length < count && at + 4 < body.length; at += pad(at, 4).length) {
    const length = body.readUInt32LE(at);
    found.push(body.toString('utf8', at + 4, at + 4 + length));
    at += 4 + length + 1;
  }
  return found;
}
