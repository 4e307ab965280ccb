import type { PodUid } from '../../model/pod.ts';
import type { PodSummary } from '../../ports/container-runtime.ts';

/** The parts and their phases as one text; their order says nothing. */
const stateOf = ({ parts }: PodSummary): string =>
  parts
    .map(({ id, phase }) => `${id} ${phase}`)
    .sort()
    .join('\n');

/** Pods that came, went or differ between two listings, each under its "namespace/name". */
export function changedPods(
  before: readonly PodSummary[],
  after: readonly PodSummary[],
): readonly { readonly uid: PodUid; readonly pod: string }[] {
  const old = new Map(before.map((pod) => [pod.uid, pod]));
  const changed: PodSummary[] = [];
  for (const pod of after) {
    const was = old.get(pod.uid);
    if (!was || stateOf(was) !== stateOf(pod)) changed.push(pod);
    old.delete(pod.uid);
  }
  return [...changed, ...old.values()].map(({ uid, namespace, name }) => ({ uid, pod: `${namespace}/${name}` }));
}
