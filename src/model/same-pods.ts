import type { Pod } from './pod.ts';

/** The same objects in the same order: what is unchanged keeps its identity. */
export const samePods = (a: readonly Pod[], b: readonly Pod[]): boolean => a.length === b.length && a.every((pod, i) => pod === b[i]);
