import { printable } from '../src/base/printable.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "12 s", "3 min", "2 h 5 min", "4 d 3 h": as exact as is of use. */
export function duration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < 100) return `${Math.round(whole)} ms`;
  if (whole < 10 * SECOND) return `${(whole / SECOND).toFixed(1).replace(/\.0$/, '')} s`;
  if (whole < 2 * MINUTE) return `${Math.round(whole / SECOND)} s`;
  if (whole < 2 * HOUR) return `${Math.floor(whole / MINUTE)} min`;
  if (whole < 2 * DAY) return two(whole, HOUR, 'h', MINUTE, 'min');
  return two(whole, DAY, 'd', HOUR, 'h');
}

/** As `duration`, in whole seconds: what counts up or down must not flicker. */
export const wholeDuration = (ms: number): string => (ms < 2 * MINUTE ? `${Math.max(0, Math.floor(ms / SECOND))} s` : duration(ms));

function two(ms: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((ms % big) / small);
  return `${Math.floor(ms / big)} ${bigUnit}${rest === 0 ? '' : ` ${rest} ${smallUnit}`}`;
}

/** "1.5 GiB" */
export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;
  let value = Math.max(0, count);
  let at = 0;
  for (; value >= 1024 && at < units.length - 1; at++) value /= 1024;
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1).replace(/\.0$/, '')} ${units[at]}`;
}

const pad = (part: number, width = 2): string => String(part).padStart(width, '0');

/** "12:03:10", by the reader's own clock. */
export function clockTime(ms: number): string {
  const date = new Date(ms);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/** "12:03:10.123" */
export const exactTime = (ms: number): string => `${clockTime(ms)}.${pad(new Date(ms).getMilliseconds(), 3)}`;

/** "3 pods", "1 pod" */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What others wrote: nothing in it turns its direction, nor steers the terminal that it is copied to. Lines stay lines. */
export const shown = (text: string): string => text.split('\n').map(printable).join('\n');
