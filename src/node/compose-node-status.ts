import type { Node, NodeStatus, ResourceList } from '../model/node.ts';
import { type AddressFacts, nodeAddresses, withProvidedNodeIp } from './node-addresses.ts';
import {
  type ConditionChange,
  type GivenCondition,
  setGivenCondition,
  setPressureCondition,
  setReadyCondition,
  type Readiness,
} from './node-conditions.ts';
import { pressureTypes } from '../model/node-pressure.ts';
import { type NodeEvent, nodeStatusEvent } from './node-event.ts';
import { type NodeImage, nodeImages } from './node-images.ts';
import { type VersionFacts, versionInfo } from './node-info.ts';
import type { EngineFeatures } from '../ports/engine-features.ts';
import { runtimeHandlerStatuses } from './runtime-handlers.ts';
import type { MachineFacts } from '../base/machine-facts.ts';
import { machineInfo, type MachineInfoInput } from './machine-info.ts';

/** Everything that the node's status is made of, at one moment. */
export interface NodeFacts {
  readonly nowMs: number;
  readonly addresses: AddressFacts;
  /** Undefined: the machine could not be read. */
  readonly machine: MachineFacts | undefined;
  readonly maxPods: number;
  readonly podsPerCore: number;
  /** Ephemeral storage, as a quantity. */
  readonly capacity: ResourceList;
  readonly reservation: ResourceList;
  readonly devices?: NonNullable<MachineInfoInput['devices']>;
  readonly versions: VersionFacts;
  /** Undefined: not known yet, those reported stay. */
  readonly engineFeatures: EngineFeatures | undefined;
  /** Undefined: nodes declare nothing. */
  readonly declaredFeatures: readonly string[] | undefined;
  /** Where this agent's server listens; 0 without one. */
  readonly kubeletPort: number;
  /** Undefined: not known yet, those reported stay. */
  readonly images: readonly NodeImage[] | undefined;
  readonly nodeStatusMaxImages: number;
  /** A pressure of which nothing is given is none. */
  readonly conditions: readonly GivenCondition[];
  readonly readiness: Readiness;
  /** Undefined: not known yet, those reported stay. */
  readonly volumesInUse: readonly string[] | undefined;
}

export interface ComposedNode {
  readonly node: Node & { readonly status: NodeStatus };
  /** To be recorded once the API server has the status that shows them. */
  readonly events: readonly NodeEvent[];
  /** What could not be found out; the rest is there. */
  readonly faults: readonly string[];
}

/** The node with its status brought up to the facts; what others wrote into it stays. The setters run in the kubelet's order. */
export function composeNodeStatus(node: Node, facts: NodeFacts): ComposedNode {
  const { nowMs } = facts;
  const { nodeName } = facts.addresses;
  const faults: string[] = [];
  const found = nodeAddresses(node.status?.addresses ?? [], facts.addresses);
  if (found.error !== undefined) faults.push(found.error);
  const { capacity, allocatable, ids, events: machineEvents } = machineInfo(node.status ?? {}, { ...facts, nodeName });

  const reasons: NodeEvent[] = [];
  let conditions = node.status?.conditions ?? [];
  const set = (change: ConditionChange): void => {
    conditions = change.conditions;
    if (change.reason) reasons.push(nodeStatusEvent(nodeName, change.reason));
  };
  for (const pressure of ['memory', 'disk', 'pid'] as const) {
    const isGiven = facts.conditions.some(({ type }) => type === pressureTypes[pressure]);
    if (!isGiven) set(setPressureCondition(conditions, pressure, false, nowMs));
  }
  for (const given of facts.conditions) set(setGivenCondition(conditions, given, nowMs));
  // Ready looks at the capacity, and stands last where it is new.
  set(setReadyCondition({ capacity, conditions }, facts.readiness, nowMs));

  const { nodeInfo, ...reported } = node.status ?? {};
  const noIds = { machineID: '', systemUUID: '', bootID: '' };
  const status: NodeStatus = {
    ...reported,
    ...(found.addresses && { addresses: found.addresses }),
    capacity,
    allocatable,
    conditions,
    daemonEndpoints: { kubeletEndpoint: { Port: facts.kubeletPort } },
    nodeInfo: { ...noIds, ...nodeInfo, ...ids, ...versionInfo(facts.versions) },
    ...(facts.images && { images: nodeImages(facts.images, facts.nodeStatusMaxImages) }),
    ...(facts.engineFeatures && engineStatus(facts.engineFeatures)),
    ...(facts.declaredFeatures && { declaredFeatures: [...facts.declaredFeatures] }),
    ...(facts.volumesInUse && { volumesInUse: facts.volumesInUse }),
  };
  const annotations = withProvidedNodeIp(node.metadata?.annotations, found);
  const metadata = node.metadata || annotations ? { metadata: { ...node.metadata, ...(annotations && { annotations }) } } : {};
  return { node: { ...node, ...metadata, status }, events: [...machineEvents, ...reasons], faults };
}

/** pkg/kubelet/nodestatus/setters.go RuntimeHandlers, Features. */
const engineStatus = ({ handlers, supplementalGroupsPolicy }: EngineFeatures): Pick<NodeStatus, 'runtimeHandlers' | 'features'> => ({
  runtimeHandlers: runtimeHandlerStatuses(handlers),
  features: { supplementalGroupsPolicy },
});
