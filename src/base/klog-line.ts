import type { Plain } from './plain-fields.ts';

export type Severity = 'info' | 'warning' | 'error';

const letters: Readonly<Record<Severity, string>> = { info: 'I', warning: 'W', error: 'E' };
const colours: Readonly<Record<Severity, string>> = { info: '\u001B[2m', warning: '\u001B[33m', error: '\u001B[31m' };
const plainColour = '\u001B[0m';
const dim = '\u001B[2m';

/** `I1121 12:14:03.123 message key="value"`, a line without its end; local time. Without a time it has no header. */
export function klogLine(
  severity: Severity,
  atMs: number | undefined,
  message: string,
  fields: Readonly<Record<string, Plain>>,
  colour: boolean,
): string {
  const header = atMs === undefined ? '' : `${letters[severity]}${timeOf(atMs)} `;
  // A message is one line, whatever it was made of.
  const text = message.replaceAll('\n', String.raw`\n`);
  let line = colour ? `${colours[severity]}${header}${plainColour}${text}` : `${header}${text}`;
  for (const [key, value] of Object.entries(fields)) {
    line += colour ? ` ${dim}${key}=${plainColour}${valueText(value)}` : ` ${key}=${valueText(value)}`;
  }
  return line;
}

const valueText = (value: Plain): string =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value);

function timeOf(atMs: number): string {
  const at = new Date(atMs);
  const two = (part: number): string => String(part).padStart(2, '0');
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`;
  return `${two(at.getMonth() + 1)}${two(at.getDate())} ${time}`;
}
