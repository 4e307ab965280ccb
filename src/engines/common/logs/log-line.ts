import { foldCase, quote } from '../../../model/go-text.ts';
import { type LogTime, parseLogTime, ZERO_TIME } from './log-time.ts';

export interface LogLine {
  readonly time: LogTime;
  /** "stdout" or "stderr", or whatever the log says instead. */
  readonly stream: string;
  readonly bytes: Buffer;
}

/** Undefined for a line that is not of the format. */
export type ParseLine = (line: Buffer) => LogLine | undefined;

const SPACE = 0x20;
const NEWLINE = 0x0a;

/** How the lines of a log are to be read, as one of them shows (pkg/kubelet/kuberuntime/logs getParseFunc). Throws when no format fits. */
export function lineParser(sample: Buffer): ParseLine {
  const found = [parseCriLine, parseDockerLine].find((parse) => parse(sample) !== undefined);
  if (!found) throw new Error(`failed to get parse function: unsupported log format: ${quote(sample.toString())}`);
  return found;
}

/** `TIME STREAM TAG[:TAG…] text`: with the tag P the line goes on in the next one. */
export function parseCriLine(line: Buffer): LogLine | undefined {
  const timeEnd = line.indexOf(SPACE);
  const streamEnd = line.indexOf(SPACE, timeEnd + 1);
  const tagsEnd = line.indexOf(SPACE, streamEnd + 1);
  if (timeEnd < 0 || streamEnd < 0 || tagsEnd < 0) return undefined;
  const time = parseLogTime(line.toString('latin1', 0, timeEnd));
  const stream = line.toString('latin1', timeEnd + 1, streamEnd);
  if (!time || (stream !== 'stdout' && stream !== 'stderr')) return undefined;
  const [tag] = line.toString('latin1', streamEnd + 1, tagsEnd).split(':');
  const end = tag === 'P' && line.at(-1) === NEWLINE ? line.length - 1 : line.length;
  return { time, stream, bytes: line.subarray(tagsEnd + 1, end) };
}

/** `{"log":"text\n","stream":"stdout","time":"…"}` in any order and with anything else in it. */
export function parseDockerLine(line: Buffer): LogLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line.toString());
  } catch {
    return undefined;
  }
  // For Go, null is an object without fields.
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  const fields: Record<string, string> = { log: '', stream: '' };
  for (const [key, field] of Object.entries(value ?? {})) {
    const name = foldCase(key);
    if ((name !== 'log' && name !== 'stream' && name !== 'time') || field === null) continue;
    if (typeof field !== 'string') return undefined;
    fields[name] = field;
  }
  const { log = '', stream = '', time: text } = fields;
  const time = text === undefined ? ZERO_TIME : parseLogTime(text);
  return time && { time, stream, bytes: Buffer.from(log) };
}
