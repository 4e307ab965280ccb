import { isNodeCriticalPod } from './critical-pod.ts';
import { hasPodLevelRequests } from './pod-level-resources.ts';
import { isSidecar } from './pod-predicates.ts';
import { containerTotal } from './pod-resources.ts';
import type { Container, Pod } from './pod.ts';
import { podQosClass } from './qos.ts';
import { Quantity } from './quantity.ts';

const GUARANTEED = -997;
const BEST_EFFORT = 1000;

const memoryRequest = ({ resources }: { readonly resources?: Container['resources'] | undefined }): bigint =>
  Quantity.fromJson(resources?.requests?.['memory']).value();

/**
 * Who dies first when memory runs out: the more memory a container asked for, the later (pkg/kubelet/qos GetContainerOOMScoreAdjust). Only what
 * the node itself cannot do without dies as late as what is guaranteed. A sidecar does not die before the app containers.
 */
export function oomScoreAdj(pod: Pod, container: Container, memoryCapacityBytes: number): number {
  if (isNodeCriticalPod(pod)) return GUARANTEED;
  const qos = pod.status?.qosClass || podQosClass(pod);
  if (qos === 'Guaranteed') return GUARANTEED;
  if (qos === 'BestEffort') return BEST_EFFORT;
  const share = unassignedShare(pod);
  // In 64 bits, as Kubernetes computes.
  const score = (request: bigint): number => 1000 - Number(BigInt.asIntN(64, 1000n * (request + share)) / BigInt(memoryCapacityBytes));
  const own = score(memoryRequest(container));
  const adjusted = isSidecarOf(pod, container) ? Math.min(own, score(leastRequest(pod))) : own;
  // Burstable stays between the other two; a pod that asks for less than its containers, which validation refuses, goes beyond.
  return adjusted === BEST_EFFORT ? BEST_EFFORT - 1 : Math.max(1000 + GUARANTEED, adjusted);
}

/** Each container's part of what the pod as a whole asks for beyond what its containers do. */
function unassignedShare(pod: Pod): bigint {
  const { resources, containers, initContainers = [] } = pod.spec;
  const ofPod = hasPodLevelRequests(resources) ? memoryRequest({ resources }) : 0n;
  if (ofPod === 0n) return 0n;
  const assigned = containerTotal(pod, 'requests').get('memory')?.value() ?? 0n;
  return (ofPod - assigned) / BigInt(containers.length + initContainers.length);
}

function isSidecarOf({ spec }: Pod, container: Container): boolean {
  return isSidecar(container) && (spec.initContainers ?? []).some(({ name }) => name === container.name);
}

function leastRequest({ spec }: Pod): bigint {
  return spec.containers.map(memoryRequest).reduce((least, one) => (one < least ? one : least));
}
