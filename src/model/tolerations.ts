import type { Taint } from './node.ts';
import type { PodSpec } from './pod.ts';

export type Toleration = NonNullable<PodSpec['tolerations']>[number];

/**
 * Without an effect a toleration is for all effects, without a key for all keys (ToleratesTaint in component-helpers). Lt and Gt tolerate
 * nothing: they are behind TaintTolerationComparisonOperators, which is off.
 */
export function toleratesTaint({ key = '', operator = '', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '');
}

/** The first of the taints that none of the tolerations is for (FindMatchingUntoleratedTaint). */
export function untoleratedTaint(taints: readonly Taint[], tolerations: readonly Toleration[]): Taint | undefined {
  return taints.find((taint) => !tolerations.some((toleration) => toleratesTaint(toleration, taint)));
}
