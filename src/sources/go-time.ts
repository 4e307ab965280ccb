import { formatTime } from '../model/time.ts';

const pattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{1,2}):(\d{2}):(\d{2})(?:[.,]\d+)?(Z|([-+])(\d{2}):(\d{2}))$/;

/**
 * A time as metav1.Time reads and prints it: RFC 3339 as Go's time.Parse takes it (an hour of one digit too), in UTC and whole seconds.
 * Empty for the year 1, which is Go's way to say no time; undefined for what is no time.
 */
export function normalizeTime(text: string): string | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', , sign, offsetHour = '0', offsetMinute = '0'] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const midnight = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  // 30 February is a time to Date.parse, though another day's.
  if (Number.isNaN(midnight) || formatTime(midnight).slice(8, 10) !== day) return undefined;
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -60_000 : 60_000);
  const printed = formatTime(midnight + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 - offset);
  // The zone may lead out of the years of four digits, which JavaScript then writes with six and a sign.
  return printed === '0001-01-01T00:00:00Z' ? '' : printed.replace(/^(?:\+0|(-)00)/, '$1');
}
