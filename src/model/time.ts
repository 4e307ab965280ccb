/** RFC 3339 with seconds, as metav1.Time is printed. */
export function formatTime(atMs: number): string {
  // Without ".123Z": cut, as it is done at each look at each pod.
  return `${new Date(atMs).toISOString().slice(0, -5)}Z`;
}

/** Milliseconds since the epoch; undefined for nothing or nonsense. */
export function parseTime(text: string | undefined): number | undefined {
  const atMs = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** RFC 3339 with six digits, as metav1.MicroTime must be written. */
export function formatMicroTime(atMs: number): string {
  return new Date(atMs).toISOString().replace(/Z$/, '000Z');
}
