import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { klogLine } from '../base/klog-line.ts';
import { plainFields } from '../base/plain-fields.ts';
import { printable } from '../base/printable.ts';
import type { ReconciledFields, StreamEntry } from '../model/stream-entry.ts';

/** The entries of the timeline's answer, with the lines that they are. What is no entry is passed over. */
export async function* entriesOf(body: Readable): AsyncGenerator<{ readonly entry: StreamEntry; readonly line: string }> {
  for await (const line of createInterface({ input: body, crlfDelay: Number.POSITIVE_INFINITY })) {
    const entry = parse(line);
    if (entry !== undefined) yield { entry, line };
  }
}

/** As the agent logs it at `--v=4`. */
export function logLineOf({ stream, level, message, pod, uid, fields, atMs }: StreamEntry): string {
  const about = { ...(pod !== undefined && { pod }), ...(uid !== undefined && { uid }) };
  const severity = typeof level === 'number' ? 'info' : level;
  return printable(klogLine(severity, atMs, message, { ...about, ...plainFields(fields), logger: stream }, false));
}

/** "12:03:10.120 reconcile default/web: …", the date in front where it is not today's. */
export function timelineLine(entry: StreamEntry, nowMs: number): string {
  const { stream, level, pod, message, fields } = entry;
  const loud = level === 'error' || level === 'warning' ? `${level.toUpperCase()}: ` : '';
  const said = isReconciled(entry) ? reconciledText(entry.fields) : [message, ...Object.entries(fields).map(fieldText)].join(' ');
  return printable(`${timeOf(entry.atMs, nowMs)} ${stream}${pod === undefined ? '' : ` ${pod}`}: ${loud}${said}`);
}

const isReconciled = (entry: StreamEntry): entry is StreamEntry & { readonly fields: ReconciledFields & StreamEntry['fields'] } =>
  entry.stream === 'reconcile' && entry.message === 'reconciled' && Array.isArray(entry.fields['actions']);

/** In the order in which somebody asks: what was done, why, what next. */
function reconciledText({ woken, because, actions, failed, next }: ReconciledFields): string {
  const did = actions.map(({ do: what, name, tookMs, error, note }) => {
    const subject = name === undefined ? what : `${what} ${name}`;
    return `${subject}: ${error ?? note ?? 'ok'} (${tookMs} ms)`;
  });
  return [
    did.length > 0 ? did.join(', ') : 'nothing to do',
    `because ${because.join('; ')}`,
    `woken by ${woken.join(', ')}`,
    ...(failed === undefined ? [] : [`failed: ${failed}`]),
    `next look ${nextText(next)}`,
  ].join('; ');
}

function nextText(next: ReconciledFields['next']): string {
  if (next === 'back-off') return 'after a back-off';
  return next === 'on-change' ? 'on change' : `in ${Math.round(next.afterMs / 100) / 10} s`;
}

const fieldText = ([name, value]: readonly [string, unknown]): string => `${name}=${JSON.stringify(value)}`;

function timeOf(atMs: number, nowMs: number): string {
  const [at, now] = [new Date(atMs), new Date(nowMs)];
  const two = (part: number): string => String(part).padStart(2, '0');
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`;
  return at.toDateString() === now.toDateString() ? time : date + time;
}

function parse(line: string): StreamEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isEntry = (value: unknown): value is StreamEntry =>
  typeof value === 'object' &&
  value !== null &&
  'message' in value &&
  typeof value.message === 'string' &&
  'stream' in value &&
  'atMs' in value &&
  typeof value.atMs === 'number' &&
  'fields' in value &&
  typeof value.fields === 'object' &&
  value.fields !== null;
