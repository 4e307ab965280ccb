import { quote } from './go-text.ts';

/** A file of variables is not what fileKeyRef takes; the message says which line. */
export class EnvFileError extends Error {
  override readonly name = 'EnvFileError';
}

const blanks = /^[ \t]+/;

/**
 * The value of a variable in a file of lines KEY='value': in single quotes, in which lines may go on and nothing is special. The first line
 * of the key counts, and what follows it is not read; a key that is not there has no value (pkg/kubelet/util/env ParseEnv). `file` is for the
 * words of EnvFileError, which it throws.
 */
export function envFileValue(text: string, key: string, file: string): string {
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
      if (name === key) return '';
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
    if (name === key) return [...parts, rest.slice(0, end)].join('\n');
  }
  if (tooLong) throw new EnvFileError(`error reading environment variable file ${quote(file)}: bufio.Scanner: token too long`);
  return '';
}

function wrong(index: number, why: string): EnvFileError {
  return new EnvFileError(`invalid environment variable format at line ${index + 1}: ${why}`);
}

/** The bytes that a line may have, as Go's bufio.Scanner reads them. */
const maxLineBytes = 65_535;

/** As Go's bufio.ScanLines: a carriage return before the end of a line goes with it. What follows a line that is too long is not read. */
function linesOf(text: string): { readonly lines: readonly string[]; readonly tooLong: boolean } {
  const all = text.split('\n');
  const long = all.findIndex((line) => Buffer.byteLength(line) > maxLineBytes);
  const lines = (long === -1 ? all : all.slice(0, long)).map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  // Nothing after the last newline is no line.
  return { lines: long === -1 && lines.at(-1) === '' ? lines.slice(0, -1) : lines, tooLong: long !== -1 };
}
