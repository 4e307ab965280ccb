import { quote } from './go-text.ts';

/** A file of variables is not what fileKeyRef takes; the message says which line. */
export class EnvFileError extends Error {
  override readonly name = 'EnvFileError';
}

const blanks = /^[ \t]+/;

/**
 * A file of variables: lines KEY='value', in single quotes, in which lines may go on and nothing is special. It is read once, and only as far
 * as it is asked for. `file` is for the words of EnvFileError.
 */
export class EnvFile {
  readonly #entries: Iterator<readonly [string, string]>;
  readonly #values = new Map<string, string>();
  #fault: unknown;

  constructor(text: string, file: string) {
    this.#entries = entriesOf(text, file);
  }

  /**
   * The first value of a key; what follows it is not looked at. A key that is not there has an empty value (pkg/kubelet/util/env ParseEnv).
   * Throws EnvFileError.
   */
  valueOf(key: string): string {
    let value = this.#values.get(key);
    while (value === undefined && this.#readNext()) value = this.#values.get(key);
    return value ?? '';
  }

  /** Whether there was one more. */
  #readNext(): boolean {
    if (this.#fault !== undefined) throw this.#fault;
    try {
      const { done, value: entry } = this.#entries.next();
      if (done) return false;
      const [name, value] = entry;
      if (!this.#values.has(name)) this.#values.set(name, value);
      return true;
    } catch (fault) {
      this.#fault = fault;
      throw fault;
    }
  }
}

function* entriesOf(text: string, file: string): Generator<readonly [string, string], undefined> {
  const { lines, tooLong } = linesOf(text);
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] ?? '').replace(blanks, '');
    if (line === '' || line.startsWith('#')) continue;
    const equals = line.indexOf('=');
    if (equals === -1) throw wrong(at, "missing '='");
    const name = line.slice(0, equals);
    if (name === '') throw wrong(at, 'empty variable name');
    if (name.endsWith(' ') || name.endsWith('\t')) throw wrong(at, "whitespace before '=' is not allowed");
    const value = line.slice(equals + 1);
    // As in a shell: KEY= 'value' leaves KEY empty.
    if (blanks.test(value)) {
      yield [name, ''];
      continue;
    }
    if (!value.startsWith("'")) throw wrong(at, 'value must be enclosed in single quotes');
    const first = at;
    const parts: string[] = [];
    let rest = value.slice(1);
    let end = rest.indexOf("'");
    for (; end === -1; end = rest.indexOf("'")) {
      parts.push(rest);
      const next = lines[++at];
      if (next === undefined)
        throw new EnvFileError(`invalid environment variable format starting at line ${first + 1}: unclosed single quote`);
      rest = next;
    }
    if (!/^[ \t]*(#.*)?$/s.test(rest.slice(end + 1))) throw wrong(at, 'unexpected content after closing quote');
    yield [name, [...parts, rest.slice(0, end)].join('\n')];
  }
  if (tooLong) throw new EnvFileError(`error reading environment variable file ${quote(file)}: bufio.Scanner: token too long`);
  return undefined;
}

function wrong(index: number, why: string): EnvFileError {
  return new EnvFileError(`invalid environment variable format at line ${index + 1}: ${why}`);
}

/** The bytes that a line may have, as Go's bufio.Scanner reads them. */
const maxLineBytes = 65_535;
/** No shorter text of UTF-16 has so many bytes. */
const maybeLong = Math.ceil(maxLineBytes / 3);

/** As Go's bufio.ScanLines: a carriage return before the end of a line goes with it. What follows a line that is too long is not read. */
function linesOf(text: string): { readonly lines: readonly string[]; readonly tooLong: boolean } {
  const all = text.split('\n');
  const long = all.findIndex((line) => line.length >= maybeLong && Buffer.byteLength(line) > maxLineBytes);
  const lines = (long === -1 ? all : all.slice(0, long)).map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  // Nothing after the last newline is no line.
  return { lines: long === -1 && lines.at(-1) === '' ? lines.slice(0, -1) : lines, tooLong: long !== -1 };
}
