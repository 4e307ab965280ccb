import { chance } from './chance.ts';

/** A delay between `ms` and `ms * (1 + fraction)`, so that equal delays do not fall on one moment. */
export function jitter(ms: number, fraction: number, random: () => number = chance): number {
  return Math.round(ms * (1 + fraction * random()));
}
