import type { PodUid } from '../../model/pod.ts';
import type { PodSummary } from '../../ports/container-runtime.ts';

/** Whether the parts and their phases are the same; their order says nothing. Each listing asks it of all pods, and mostly they are as they were. */
function isAsBefore({ parts: before }: PodSummary, { parts }: PodSummary): boolean {
  if (before.length !== parts.length) return false;
  if (parts.every(({ id, phase }, i) => before[i]?.id === id && before[i].phase === phase)) return true;
  const phases = new Map(before.map(({ id, phase }) => [id, phase]));
  return phases.size === parts.length && parts.every(({ id, phase }) => phases.get(id) === phase);
}

const isStill = (before: PodSummary | undefined, pod: PodSummary): boolean => before?.uid === pod.uid && isAsBefore(before, pod);

/** Pods that came, went or differ between two listings, each under its "namespace/name". */
export function changedPods(
  before: readonly PodSummary[],
  after: readonly PodSummary[],
): readonly { readonly uid: PodUid; readonly pod: string }[] {
  // Most listings have the same pods in the same order, as they were.
  if (before.length === after.length && after.every((pod, i) => isStill(before[i], pod))) return [];
  const old = new Map(before.map((pod) => [pod.uid, pod]));
  const changed: PodSummary[] = [];
  for (const pod of after) {
    const was = old.get(pod.uid);
    if (!was || !isAsBefore(was, pod)) changed.push(pod);
    old.delete(pod.uid);
  }
  return [...changed, ...old.values()].map(({ uid, namespace, name }) => ({ uid, pod: `${namespace}/${name}` }));
}
