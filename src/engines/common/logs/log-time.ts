/** When a line was written, as a log says it. */
export interface LogTime {
  /** Milliseconds since the epoch, with a fraction. */
  readonly atMs: number;
  /** With nine digits of a second and the zone that the log has (pkg/kubelet/types RFC3339NanoFixed). */
  readonly text: string;
}

/** Go's zero time: what a line without a time has. */
export const ZERO_TIME: LogTime = { atMs: -62_135_596_800_000, text: '0001-01-01T00:00:00.000000000Z' };

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** RFC 3339 as Go's time.Parse takes it; undefined for what it refuses. */
export function parseLogTime(text: string): LogTime | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = '', sign, zoneHours = '', zoneMinutes = ''] =
    match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const days = new Date(0);
  days.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // A day that the month lacks has moved into the next one.
  if (days.getUTCMonth() !== Number(month) - 1 || days.getUTCDate() !== Number(day)) return undefined;
  const nanos = fraction.padEnd(9, '0');
  const offsetMinutes = sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes));
  const minutes = Number(hour) * 60 + Number(minute) - offsetMinutes;
  return {
    atMs: days.getTime() + minutes * 60_000 + Number(second) * 1000 + Number(nanos) / 1e6,
    text: `${year}-${month}-${day}T${hour.padStart(2, '0')}:${minute}:${second}.${nanos}${zone(offsetMinutes)}`,
  };
}

function zone(offsetMinutes: number): string {
  if (offsetMinutes === 0) return 'Z';
  const two = (n: number): string => String(n).padStart(2, '0');
  const size = Math.abs(offsetMinutes);
  return `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
