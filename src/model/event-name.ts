import type { Clock } from '../base/clock.ts';

/** Gives an event about the object of this name a name of its own. */
export type EventNamer = (objectName: string) => string;

/** metav1 names are DNS subdomains. */
const MAX_NAME_LENGTH = 253;

/** The object's name and the hexadecimal nanoseconds since the epoch (client-go tools/record makeEvent); of a very long name, its beginning. */
export function eventName(objectName: string, atNs: bigint): string {
  const suffix = `.${atNs.toString(16)}`;
  return objectName.slice(0, MAX_NAME_LENGTH - suffix.length).replace(/[^a-z0-9]+$/, '') + suffix;
}

/** Names by the clock, never the same twice: what falls on one millisecond differs in the nanoseconds, which the clock does not have. */
export function eventNamer(clock: Pick<Clock, 'now'>): EventNamer {
  let lastNs = 0n;
  return (objectName) => {
    const nowNs = BigInt(Math.trunc(clock.now())) * 1_000_000n;
    lastNs = nowNs > lastNs ? nowNs : lastNs + 1n;
    return eventName(objectName, lastNs);
  };
}
