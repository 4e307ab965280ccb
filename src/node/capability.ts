import { aborted } from '../base/aborted.ts';
import { isCriticalPod } from '../model/critical-pod.ts';
import { isStaticPod } from '../model/mirror-pod.ts';
import type { Node } from '../model/node.ts';
import type { NodeUse } from '../model/node-use.ts';
import type { Pod } from '../model/pod.ts';
import { admitPod, type PodRefusal } from '../model/pod-admission.ts';
import { roomFor } from '../model/room-for.ts';
import { nodeReference } from '../model/object-reference.ts';
import { dependsOnEngine, type EngineSupport, noEngineSupport } from '../model/unsupported-demand.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { EngineFeatures } from '../ports/engine-features.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { Staged } from '../ports/staged.ts';
import { admissionRules } from './admission-rules.ts';
import { freshNode } from './fresh-node.ts';
import { NodeLease } from './node-lease.ts';
import { nodeStatus } from './node-status.ts';
import { RoomMaker } from './room-maker.ts';
import { podCidrService } from './tell-pod-cidr.ts';
import { runtimeErrors } from './runtime-errors.ts';

/** This node: who may run here, and where there is an API server, its object and its lease there. */
export function capability(node: NodeParts): Contribution {
  const rules = admissionRules(node.options);
  const rooms = new RoomMaker(node);
  const judgeFor = async (pod: Pod, others: NodeUse, signal: AbortSignal): Promise<(known: Node) => PodRefusal | undefined> => {
    const engine = dependsOnEngine(pod) ? engineSupport(await node.engine.features(signal)) : noEngineSupport;
    return (known) => admitPod({ pod, otherPods: others, node: withFeatures(known, engine), engine }, rules);
  };
  const unlessRoomHelps = (pod: Pod, others: NodeUse, refusal: PodRefusal | undefined): PodRefusal | undefined => {
    if (!refusal?.lacking || !isCriticalPod(pod)) return refusal;
    const room = roomFor(pod, others.pods, refusal.lacking);
    return 'preempted' in room ? refusal : room;
  };
  return {
    pod: {
      admit: async (pod, others, signal) => {
        const judge = await judgeFor(pod, others, signal);
        const refusal = judge(node.node.known());
        if (refusal?.reason === 'NodeAffinity' && !isStaticPod(pod)) {
          const fresh = await freshNode(node, signal);
          return fresh ? judge(fresh) : refusal;
        }
        return unlessRoomHelps(pod, others, refusal);
      },
      wouldAdmit: async (pod, others, signal) => {
        const judge = await judgeFor(pod, others, signal);
        return unlessRoomHelps(pod, others, judge(node.node.known()));
      },
      makeRoom: (pod, refusal, others, signal) => rooms.makeRoom(pod, refusal, others, signal),
    },
    listener: rooms.listener,
    node: {
      errors: () => {
        const ofEngine = [node.engine.runtimeFault(), node.engine.networkFault()].filter((fault) => fault !== undefined);
        return [...runtimeErrors(node.pleg.health()), ...ofEngine];
      },
    },
    services: [resources(node), podCidrService(node), ...(node.cluster.exists ? [status(node), lease(node)] : [])].filter(
      (service) => service !== undefined,
    ),
  };
}

/** User namespaces are the engine's, whichever handler it runs a pod by. */
const engineSupport = ({ handlers, supplementalGroupsPolicy }: EngineFeatures): EngineSupport => ({
  supplementalGroupsPolicy,
  userNamespaces: handlers[0]?.userNamespaces ?? false,
});

/** What the engine can do is known here first. */
const withFeatures = (node: Node, { supplementalGroupsPolicy }: EngineSupport): Node => ({
  ...node,
  status: { ...node.status, features: { supplementalGroupsPolicy } },
});

/** Counts what participants add to the node's resources, for admission too. */
const resources = (node: NodeParts): Staged => ({
  name: 'node resources',
  stage: 'node',
  run: async (signal, given) => {
    for (const participant of given.node)
      node.node.resources.provide(
        () => participant.resources?.() ?? {},
        () => participant.unusable?.() ?? {},
      );
    await aborted(signal);
  },
});

const status = (node: NodeParts): Staged => ({
  name: 'node status',
  stage: 'node',
  run: async (signal, given) => {
    node.events.record(nodeReference(node.node.name), 'Normal', 'Starting', 'Starting kubelet.');
    await nodeStatus(node, given.node).run(signal);
  },
});

function lease(node: NodeParts): Staged {
  const { clock, folded: log, cluster, options } = node;
  const keeper = new NodeLease({
    clock,
    log: log.stream('lease'),
    api: cluster.clients.heartbeat,
    nodeName: node.node.name,
    leaseDurationSeconds: options.nodeLeaseDurationSeconds,
    tell: node.tell,
  });
  return { name: keeper.name, stage: 'node', run: (signal) => keeper.run(signal) };
}
