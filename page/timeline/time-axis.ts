const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 604_800].map(
  (s) => s * 1_000,
);

export interface Tick {
  readonly atMs: number;
  /** "12:03:10" */
  readonly text: string;
}

const pad = (part: number): string => String(part).padStart(2, '0');

/** Round times between two dates, at most so many. `offsetMs`: by how much the reader's clock is ahead of UTC. */
export function timeTicks(fromMs: number, toMs: number, most: number, offsetMs: number): readonly Tick[] {
  const step = steps.find((each) => (toMs - fromMs) / each <= most) ?? Math.max(1, toMs - fromMs);
  const first = Math.ceil((fromMs + offsetMs) / step) * step - offsetMs;
  const ticks: Tick[] = [];
  for (let atMs = first; atMs <= toMs; atMs += step) ticks.push({ atMs, text: tickText(atMs + offsetMs, step) });
  return ticks;
}

function tickText(localMs: number, step: number): string {
  const date = new Date(localMs);
  const minutes = `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}`;
  if (step >= 86_400_000) return `${date.getUTCFullYear()}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`;
  if (step >= 60_000) return minutes;
  const seconds = `${minutes}:${pad(date.getUTCSeconds())}`;
  return step >= 1_000 ? seconds : `${seconds}.${Math.floor(date.getUTCMilliseconds() / 100)}`;
}

/** The reader's own. */
export const localOffsetMs = (atMs: number): number => -new Date(atMs).getTimezoneOffset() * 60_000;
