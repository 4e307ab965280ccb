// The other side of test/builders/dead-mounts.ts: file systems in user space (FUSE, linux/fuse.h) that do not answer until they are told to.
import { spawnSync } from 'node:child_process';
import { constants, openSync, read, write } from 'node:fs';
import { parseArgs } from 'node:util';

const { positionals: directories, values } = parseArgs({
  allowPositionals: true,
  options: { hang: { type: 'string', default: 'killable' } },
});

const HEADER_IN = 40;
const HEADER_OUT = 16;
const BUFFER_BYTES = 1 << 18;
const ROOT = 1n;
/** Whatever name is looked up is that of a directory. */
const nodes = new Map<string, bigint>();
const ENOSYS = 38;

const op = {
  lookup: 1,
  forget: 2,
  getattr: 3,
  setattr: 4,
  statfs: 17,
  init: 26,
  opendir: 27,
  readdir: 28,
  releasedir: 29,
  interrupt: 36,
  batchForget: 42,
};

interface Request {
  readonly opcode: number;
  readonly unique: bigint;
  readonly node: bigint;
  /** What is looked up. */
  readonly name: string;
}

class FileSystem {
  readonly #fd: number;
  readonly #held: Request[] = [];
  #answers = false;
  #reads = false;

  constructor(directory: string) {
    this.#fd = openSync('/dev/fuse', constants.O_RDWR);
    const options = `fd=3,rootmode=40000,user_id=0,group_id=0`;
    const { status, stderr } = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, 'none', directory], {
      stdio: ['ignore', 'ignore', 'pipe', this.#fd],
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`cannot mount a file system of this process at ${directory}: ${stderr.trim()}`);
  }

  /** Takes requests, and answers none but the first: what waits for one of them can then not even be killed. */
  take(): void {
    if (this.#reads) return;
    this.#reads = true;
    this.#next();
  }

  answer(): void {
    this.#answers = true;
    for (const request of this.#held.splice(0)) this.#reply(request);
    this.take();
  }

  #next(): void {
    const buffer = Buffer.alloc(BUFFER_BYTES);
    read(this.#fd, buffer, 0, BUFFER_BYTES, null, (error, bytes) => {
      // Unmounted, or a request that was taken back meanwhile.
      if (error) {
        if (error.code === 'ENOENT' || error.code === 'EINTR') this.#next();
        return;
      }
      if (bytes >= HEADER_IN) {
        const request = requestIn(buffer.subarray(0, bytes));
        if (this.#answers || request.opcode === op.init) this.#reply(request);
        else this.#held.push(request);
      }
      this.#next();
    });
  }

  #reply(request: Request): void {
    const { opcode, unique } = request;
    if (opcode === op.forget || opcode === op.batchForget || opcode === op.interrupt) return;
    const body = bodyOf(request);
    const out = Buffer.alloc(HEADER_OUT + (body?.length ?? 0));
    out.writeUInt32LE(out.length, 0);
    out.writeInt32LE(body === undefined ? -ENOSYS : 0, 4);
    out.writeBigUInt64LE(unique, 8);
    body?.copy(out, HEADER_OUT);
    // Who asked may have gone.
    write(this.#fd, out, () => {});
  }
}

function requestIn(bytes: Buffer): Request {
  return {
    opcode: bytes.readUInt32LE(4),
    unique: bytes.readBigUInt64LE(8),
    node: bytes.readBigUInt64LE(16),
    name: bytes.toString('latin1', HEADER_IN, Math.max(HEADER_IN, bytes.indexOf(0, HEADER_IN))),
  };
}

function nodeOf(parent: bigint, name: string): bigint {
  const key = `${parent}/${name}`;
  const node = nodes.get(key) ?? ROOT + 1n + BigInt(nodes.size);
  nodes.set(key, node);
  return node;
}

function bodyOf({ opcode, node, name }: Request): Buffer | undefined {
  switch (opcode) {
    case op.init: {
      const out = Buffer.alloc(64);
      out.writeUInt32LE(7, 0);
      out.writeUInt32LE(31, 4);
      out.writeUInt32LE(4096, 20);
      return out;
    }
    case op.lookup: {
      const out = Buffer.alloc(40);
      const below = nodeOf(node, name);
      out.writeBigUInt64LE(below, 0);
      return Buffer.concat([out, attributes(below)]);
    }
    case op.getattr:
    case op.setattr:
      return Buffer.concat([Buffer.alloc(16), attributes(node)]);
    case op.opendir:
      return Buffer.alloc(16);
    case op.readdir:
    case op.releasedir:
      return Buffer.alloc(0);
    case op.statfs: {
      const out = Buffer.alloc(80);
      for (const at of [0, 8, 16]) out.writeBigUInt64LE(1000n, at);
      out.writeUInt32LE(4096, 40);
      out.writeUInt32LE(255, 44);
      out.writeUInt32LE(4096, 48);
      return out;
    }
    default:
      return undefined;
  }
}

function attributes(node: bigint): Buffer {
  const out = Buffer.alloc(88);
  out.writeBigUInt64LE(node, 0);
  out.writeUInt32LE(constants.S_IFDIR | 0o755, 60);
  out.writeUInt32LE(2, 64);
  out.writeUInt32LE(4096, 80);
  return out;
}

const mounted = new Map(directories.map((directory) => [directory, new FileSystem(directory)]));
if (values.hang === 'unkillable') for (const each of mounted.values()) each.take();
process.on('message', (directory) => mounted.get(String(directory))?.answer());
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.send?.('mounted');
