import { fitPod } from '../../../src/model/fit-pod.ts';
import { isCriticalPod } from '../../../src/model/critical-pod.ts';
import { NodeUse } from '../../../src/model/node-use.ts';
import type { Node } from '../../../src/model/node.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { roomFor } from '../../../src/model/room-for.ts';

interface In {
  readonly node: Node | null;
  readonly freshNode?: Node;
  readonly otherPods: readonly Pod[];
  readonly pod: Pod;
}

interface Out {
  readonly admit: boolean;
  readonly reason: string;
  readonly message: string;
  readonly preempted: readonly string[];
}

export function run({ node, freshNode, otherPods, pod }: In): Out {
  const others = new NodeUse(otherPods);
  const fit = (known: Node | undefined): ReturnType<typeof fitPod> => fitPod({ pod, otherPods: others, node: known });
  const first = fit(node ?? undefined);
  const refusal = first?.reason === 'NodeAffinity' && freshNode ? fit(freshNode) : first;
  const refused = ({ reason, message }: { reason: string; message: string }): Out => ({ admit: false, reason, message, preempted: [] });
  const admitted = (preempted: readonly string[]): Out => ({ admit: true, reason: '', message: '', preempted });
  if (refusal === undefined) return admitted([]);
  if (!refusal.lacking || !isCriticalPod(pod)) return refused(refusal);
  const room = roomFor(pod, otherPods, refusal.lacking);
  return 'preempted' in room ? admitted(room.preempted.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)) : refused(room);
}
