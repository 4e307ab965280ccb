import type { Toleration } from './tolerations.ts';

/** Whether the one takes the place of the other: all but for how long is the same (MatchToleration in k8s.io/api). */
export function isSameToleration(one: Toleration, other: Toleration): boolean {
  return (['key', 'operator', 'value', 'effect'] as const).every((field) => (one[field] ?? '') === (other[field] ?? ''));
}

/** With one more, in the place of the same where it is there (AddOrUpdateTolerationInPod). */
export function withToleration(tolerations: readonly Toleration[], added: Toleration): readonly Toleration[] {
  if (!tolerations.some((each) => isSameToleration(each, added))) return [...tolerations, added];
  return tolerations.map((each) => (isSameToleration(each, added) ? added : each));
}
