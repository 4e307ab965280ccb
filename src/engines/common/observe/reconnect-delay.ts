const FIRST_DELAY_MS = 100;
/** A stream of events that has lasted for so long was no failure. */
export const MAX_DELAY_MS = 10_000;

/** The wait before the nth attempt after a break, 0 first: doubling, with up to half of it left to chance. */
export const reconnectDelayMs = (failures: number, random: () => number): number =>
  Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures) * (1 - random() / 2);
