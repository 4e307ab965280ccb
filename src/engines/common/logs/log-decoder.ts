import { quote } from '../../../model/go-text.ts';
import type { LogOptions, LogPiece } from '../../../ports/container-access.ts';
import { CriLine } from './cri-line.ts';
import { DockerJsonLine } from './docker-json-line.ts';
import { ZERO_TIME } from './log-time.ts';
import { type LogLine, lineParser, type ParseLine, parseCriLine, parseDockerLine } from './log-line.ts';
import type { QuickLine } from './quick-line.ts';
import { TIMESTAMP_BYTES } from './utc-time.ts';

const NEWLINE = 0x0a;
const nothing = Buffer.alloc(0);

export type DecodeOptions = Pick<LogOptions, 'timestamps' | 'sinceMs' | 'limitBytes' | 'stream'>;

/**
 * From the lines of a log file to what the container wrote, with the rules of pkg/kubelet/kuberuntime/logs: the first line tells the
 * format, lines that are not of it are left out, timestamps count towards the limit, and what would pass the limit is cut.
 */
export class LogDecoder {
  readonly #options: DecodeOptions;
  readonly #quick: readonly (readonly [line: QuickLine, parse: ParseLine])[] = [
    [new CriLine(), parseCriLine],
    [new DockerJsonLine(), parseDockerLine],
  ];
  #parse: ParseLine | undefined;
  #remaining: number;
  #full = false;
  #failure: Error | undefined;
  #pieces: LogPiece[] = [];
  /** What was decoded of the block: emitted up to #runAt, and of one stream from there to #used. */
  #out = nothing;
  #used = 0;
  #runAt = 0;
  #runIsStderr = false;

  constructor(options: DecodeOptions) {
    this.#options = options;
    const { limitBytes = -1 } = options;
    this.#remaining = limitBytes >= 0 ? limitBytes : Number.POSITIVE_INFINITY;
  }

  /** The limit is reached: nothing more will come. */
  get full(): boolean {
    return this.#full;
  }

  /** Why nothing more can be read. What `decode` has returned still counts. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** While it waits for more to decode it holds nothing. */
  release(): void {
    this.#out = nothing;
  }

  /** `block` begins with a line and ends with one; the last may lack its newline. The pieces do not refer to it, and are good until the next call. */
  decode(block: Buffer): readonly LogPiece[] {
    this.#pieces = [];
    this.#used = 0;
    this.#runAt = 0;
    try {
      for (let at = 0; at < block.length && !this.#full;) {
        at = this.#decodeFast(block, at);
        if (at < block.length && !this.#full) at = this.#decodeSlow(block, at);
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
    }
    this.#endRun();
    return this.#pieces;
  }

  /** Goes on while lines have the very shape in which an engine writes them. Returns where the first other one is. */
  #decodeFast(block: Buffer, from: number): number {
    const { timestamps, sinceMs, stream } = this.#options;
    const rest = block.length - from;
    // What is around a line's text has at least 30 bytes, and a timestamp 31.
    this.#makeRoom(rest + (rest >> 4));
    const prefixBytes = timestamps ? TIMESTAMP_BYTES : 0;
    const read = (line: QuickLine, at: number): boolean => line.read(block, at, block.length, this.#out, this.#used + prefixBytes);
    const found = this.#quick.find(([candidate, parse]) => (this.#parse ?? parse) === parse && read(candidate, from));
    if (found === undefined) return from;
    const [line, parse] = found;
    this.#parse = parse;
    let at: number;
    do {
      at = line.next;
      if (sinceMs !== undefined && line.time.ms(block) < sinceMs) continue;
      if (stream !== undefined && (stream === 'Stderr') !== line.stderr) continue;
      if (timestamps) line.time.write(block, this.#out, this.#used);
      this.#goOnWith(line.stderr);
      this.#used += this.#allowed(line.outEnd - this.#used);
    } while (at < block.length && !this.#full && read(line, at));
    return at;
  }

  /** One line of any shape. Returns where the next one is. */
  #decodeSlow(block: Buffer, at: number): number {
    const newline = block.indexOf(NEWLINE, at);
    const next = newline < 0 ? block.length : newline + 1;
    const text = block.subarray(at, next);
    this.#parse ??= lineParser(text);
    const line = this.#parse(text);
    if (line) this.#write(line);
    return next;
  }

  #write({ time, stream, bytes }: LogLine): void {
    const { timestamps, sinceMs, stream: wanted } = this.#options;
    if (time.atMs < (sinceMs ?? ZERO_TIME.atMs)) return;
    if (stream !== 'stdout' && stream !== 'stderr') throw new Error(`unexpected stream type ${quote(stream)}`);
    if (wanted !== undefined && (wanted === 'Stderr') !== (stream === 'stderr')) return;
    this.#goOnWith(stream === 'stderr');
    if (timestamps) this.#append(Buffer.from(`${time.text} `));
    this.#append(bytes);
  }

  #makeRoom(bytes: number): void {
    const end = this.#used + bytes;
    if (this.#out.length >= end) return;
    // Pieces that are finished stay in the old one.
    const larger = Buffer.allocUnsafeSlow(this.#used === 0 ? end : Math.max(end, 2 * this.#out.length));
    this.#out.copy(larger, this.#runAt, this.#runAt, this.#used);
    this.#out = larger;
  }

  #append(bytes: Buffer): void {
    this.#makeRoom(bytes.length);
    bytes.copy(this.#out, this.#used);
    this.#used += this.#allowed(bytes.length);
  }

  #goOnWith(stderr: boolean): void {
    if (stderr === this.#runIsStderr) return;
    this.#endRun();
    this.#runIsStderr = stderr;
  }

  /** How many of these bytes may still be emitted. A limit is reached with its last byte, one of nothing with the first line. */
  #allowed(bytes: number): number {
    const allowed = Math.min(bytes, this.#remaining);
    this.#remaining -= allowed;
    this.#full = this.#remaining <= 0;
    return allowed;
  }

  #endRun(): void {
    if (this.#used > this.#runAt) {
      this.#pieces.push({ stream: this.#runIsStderr ? 'stderr' : 'stdout', bytes: this.#out.subarray(this.#runAt, this.#used) });
    }
    this.#runAt = this.#used;
  }
}
