/** The only door to chance: a number from 0 up to, but not including, 1. */
export const chance = (): number => Math.random();
