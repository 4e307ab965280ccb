import { merge } from 'rxjs';
import type { Service } from '../base/service.ts';
import { version } from '../base/version.ts';
import { nodeReference } from '../model/object-reference.ts';
import type { Given } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { collectNodeFacts } from './collect-node-facts.ts';
import { declaredFeatures } from './declared-features.ts';
import { parseNodeIps } from './ip-address.ts';
import type { GivenCondition, NodeErrors } from './node-conditions.ts';
import { NodeStatusReporter } from './node-status-reporter.ts';

/** What tells the API server of this node, with what the node's participants say of it. */
export function nodeStatus(node: NodeParts, participants: Given['node']): Service {
  const { options, live, clock, folded: log, cluster, engine, random } = node;
  const errors = (): NodeErrors => participants.flatMap((participant) => participant.errors?.() ?? []);
  const conditions = (): readonly GivenCondition[] => participants.flatMap((participant) => participant.conditions?.() ?? []);
  return new NodeStatusReporter({
    clock,
    log,
    api: cluster.clients.heartbeat,
    nodeName: node.node.name,
    initial: options.registerNode ? node.node.initial : undefined,
    facts: collectNodeFacts({
      clock,
      log,
      paths: { root: '/', machineIdFiles: options.machineIdFiles, bootIdFiles: options.bootIdFiles },
      settings: {
        nodeName: node.node.name,
        hostname: node.node.name,
        nodeIps: parseNodeIps(options.nodeIp),
        externalCloudProvider: options.cloudProvider === 'external',
        rootDir: options.rootDir,
        kubeletPort: options.port,
        release: version(),
        arch: process.arch,
        declaredFeatures: declaredFeatures(options.featureGates),
        localStorage: options.localStorageCapacityIsolation,
      },
      live,
      resources: node.node.resources,
      images: (signal) => engine.images.listImages(signal),
      containerRuntimeVersion: async (signal) => {
        const info = await engine.runtime.info(signal);
        return `${info.name}://${info.version}`;
      },
      engineFeatures: (signal) => engine.features(signal),
      errors,
      conditions,
      volumesInUse: () => volumesOf(participants),
    }),
    errors,
    conditions,
    volumesInUse: () => volumesOf(participants),
    provided: () => node.node.resources.provided(),
    wakes: merge(node.pleg.relists, ...participants.flatMap(({ changes }) => changes ?? [])),
    nodes: cluster.nodes,
    record: ({ type, reason, message }) => node.events.record(nodeReference(node.node.name), type, reason, message),
    frequencies: () => ({ updateMs: live.now.nodeStatusUpdateFrequencyMs, reportMs: live.now.nodeStatusReportFrequencyMs }),
    random,
  });
}

/** Undefined while one does not know yet, and where nobody has any. */
function volumesOf(participants: Given['node']): readonly string[] | undefined {
  const known = participants.flatMap((each) => (each.volumesInUse ? [each.volumesInUse()] : []));
  return known.length === 0 || known.includes(undefined) ? undefined : known.flatMap((each) => each ?? []);
}
