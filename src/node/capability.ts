import { aborted } from '../base/aborted.ts';
import { admitPod } from '../model/pod-admission.ts';
import { nodeReference } from '../model/object-reference.ts';
import { dependsOnEngine, type EngineSupport, noEngineSupport } from '../model/unsupported-demand.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { EngineFeatures } from '../ports/engine-features.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { Staged } from '../ports/staged.ts';
import { admissionRules } from './admission-rules.ts';
import { NodeLease } from './node-lease.ts';
import { nodeStatus } from './node-status.ts';
import { runtimeErrors } from './runtime-errors.ts';

/** This node: who may run here, and where there is an API server, its object and its lease there. */
export function capability(node: NodeParts): Contribution {
  const rules = admissionRules(node.options);
  return {
    pod: {
      admit: async (pod, others, signal) => {
        const engine = dependsOnEngine(pod) ? engineSupport(await node.engine.features(signal)) : noEngineSupport;
        return admitPod({ pod, otherPods: others, node: node.node.known(), engine }, rules);
      },
    },
    node: {
      errors: () => {
        const networkFault = node.engine.networkFault();
        return [...runtimeErrors(node.pleg.health()), ...(networkFault === undefined ? [] : [networkFault])];
      },
    },
    services: [resources(node), ...(node.cluster.exists ? [status(node), lease(node)] : [])],
  };
}

/** User namespaces are the engine's, whichever handler it runs a pod by. */
const engineSupport = ({ handlers, supplementalGroupsPolicy }: EngineFeatures): EngineSupport => ({
  supplementalGroupsPolicy,
  userNamespaces: handlers[0]?.userNamespaces ?? false,
});

/** Counts what participants add to the node's resources, for admission too. */
const resources = (node: NodeParts): Staged => ({
  name: 'node resources',
  stage: 'node',
  run: async (signal, given) => {
    for (const participant of given.node) node.node.resources.provide(() => participant.resources?.() ?? {});
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
    log,
    api: cluster.clients.heartbeat,
    nodeName: node.node.name,
    leaseDurationSeconds: options.nodeLeaseDurationSeconds,
  });
  return { name: keeper.name, stage: 'node', run: (signal) => keeper.run(signal) };
}
