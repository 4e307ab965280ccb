import { constants, createInflate, type Inflate } from 'node:zlib';
import { spdyDictionary } from './spdy-dictionary.ts';

/** Names in small letters; several values of one name are joined by NUL, as on the wire. */
export type SpdyHeaders = ReadonlyMap<string, string>;

const dictionary = spdyDictionary();

/** What a header block may be once unpacked: the streams' own headers take less than 300 bytes. */
const MAX_UNPACKED_BYTES = 64 * 1024;

/** Unpacks the header blocks of one connection. They share one zlib context: every block has to be given, in its order, used or not. */
export class HeaderInflater {
  readonly #inflate: Inflate;
  #unpacked: Buffer[] = [];
  #unpackedBytes = 0;
  #fail: ((error: Error) => void) | undefined;

  constructor() {
    this.#inflate = createInflate({ dictionary, flush: constants.Z_SYNC_FLUSH });
    this.#inflate.on('data', (bytes: Buffer) => this.#take(bytes));
    this.#inflate.on('error', (error) => this.#fail?.(error));
    this.#inflate.on('end', () => this.#fail?.(new Error('the compression of headers has ended')));
  }

  /** One at a time. Rejects for what is no header block; the connection is lost then. */
  async decode(block: Buffer): Promise<SpdyHeaders> {
    await new Promise<void>((resolve, reject) => {
      this.#fail = reject;
      this.#inflate.write(block, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
    const bytes = Buffer.concat(this.#unpacked);
    this.#unpacked = [];
    this.#unpackedBytes = 0;
    return parseHeaders(bytes);
  }

  close(): void {
    this.#inflate.destroy();
    this.#fail?.(new Error('connection closed'));
  }

  #take(bytes: Buffer): void {
    this.#unpackedBytes += bytes.length;
    if (this.#unpackedBytes <= MAX_UNPACKED_BYTES) {
      this.#unpacked.push(bytes);
      return;
    }
    this.#fail?.(new Error(`header block of more than ${MAX_UNPACKED_BYTES} bytes`));
    this.#inflate.destroy();
  }
}

/** A 32-bit count, then names and values, each after its 32-bit length (SPDY/3.1, section 2.6.10). */
function parseHeaders(bytes: Buffer): SpdyHeaders {
  let at = 0;
  const uint32 = (): number => {
    if (at + 4 > bytes.length) throw new Error('header block cut short');
    at += 4;
    return bytes.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const length = uint32();
    if (at + length > bytes.length) throw new Error('header block cut short');
    at += length;
    return bytes.toString('utf8', at - length, at);
  };
  const headers = new Map<string, string>();
  for (let left = uint32(); left > 0; left--) headers.set(text().toLowerCase(), text());
  if (at !== bytes.length) throw new Error('header block too long');
  return headers;
}

/**
 * Packs the header blocks that one connection sends, without compression: they are empty or small, and stored blocks need no context.
 * An empty stored block follows each, as a flush does: Go's reader asks for one.
 */
export class HeaderPacker {
  #first = true;

  encode(headers: SpdyHeaders): Buffer {
    const plain = serializeHeaders(headers);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(plain.length, 1);
    head.writeUInt16LE(~plain.length & 0xffff, 3);
    const zlibHead = this.#first ? Buffer.of(0x78, 0x01) : Buffer.alloc(0);
    this.#first = false;
    return Buffer.concat([zlibHead, head, plain, Buffer.of(0, 0, 0, 0xff, 0xff)]);
  }
}

export function serializeHeaders(headers: SpdyHeaders): Buffer {
  const uint32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const text = (value: string): Buffer[] => [uint32(Buffer.byteLength(value)), Buffer.from(value)];
  return Buffer.concat([uint32(headers.size), ...[...headers].flatMap(([name, value]) => [...text(name), ...text(value)])]);
}
