import type { V1ContainerPort } from '@kubernetes/client-node';
import { matchesNode } from './node-affinity.ts';
import type { Node } from './node.ts';
import type { Pod, PodStatus } from './pod.ts';
import { podQosClass } from './qos.ts';
import type { Wire } from './wire.ts';

/** In the words of status.reason (pkg/kubelet/lifecycle/predicate.go). */
export type PodRefusalReason =
  | 'InvalidNodeInfo'
  | 'NodeAffinity'
  | 'NodeName'
  | 'NodePorts'
  | 'UnexpectedAdmissionError'
  | `OutOf${string}`;

/** Why a pod may not run on this node. */
export interface PodRefusal {
  readonly reason: PodRefusalReason;
  readonly message: string;
}

export interface PodAdmission {
  readonly pod: Pod;
  /** Admitted before, and not over yet. */
  readonly otherPods: readonly Pod[];
  /** Undefined: it cannot be had. */
  readonly node: Node | undefined;
}

/**
 * Whether the pod may run here, by what the scheduler should have seen to: undefined, or the first reason against it. Checks, in the
 * kubelet's order, node selector and affinity, node name and host ports (GeneralPredicates in pkg/kubelet/lifecycle/predicate.go).
 */
export function admitPod({ pod, otherPods, node }: PodAdmission): PodRefusal | undefined {
  if (node === undefined) return { reason: 'InvalidNodeInfo', message: 'Kubelet cannot get node info.' };
  const { spec } = pod;
  if (!matchesNode(spec, node)) return predicateFailed('NodeAffinity');
  if (spec.nodeName && spec.nodeName !== node.metadata?.name) return predicateFailed('NodeName');
  const taken = otherPods.flatMap(hostPorts);
  return hostPorts(pod).some((port) => taken.some((other) => sameHostPort(port, other))) ? predicateFailed('NodePorts') : undefined;
}

/** The status of a pod that was refused. Nobody starts it any more (Kubelet.rejectPod; the message's beginning as of 1.29). */
export function rejectPod(pod: Pod, { reason, message }: PodRefusal): PodStatus {
  const { conditions } = pod.status ?? {};
  return {
    phase: 'Failed',
    reason,
    message: `Pod was rejected: ${message}`,
    qosClass: podQosClass(pod),
    ...(conditions ? { conditions } : {}),
  };
}

/** Whether a status is that of a pod that was refused: it stays as it is. */
export function wasRejected({ phase, reason, containerStatuses = [] }: PodStatus): boolean {
  return phase === 'Failed' && reason !== undefined && reason !== '' && containerStatuses.length === 0;
}

const predicateFailed = (name: 'NodeAffinity' | 'NodeName' | 'NodePorts'): PodRefusal => ({
  reason: name,
  message: `Predicate ${name} failed`,
});

type HostPort = Required<Pick<Wire<V1ContainerPort>, 'hostIP' | 'hostPort' | 'protocol'>>;

const ANY_ADDRESS = '0.0.0.0';

function hostPorts({ spec }: Pod): readonly HostPort[] {
  return spec.containers
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ hostIP, hostPort = 0, protocol }) => ({ hostIP: hostIP || ANY_ADDRESS, hostPort, protocol: protocol || 'TCP' }));
}

function sameHostPort(a: HostPort, b: HostPort): boolean {
  if (a.hostPort !== b.hostPort || a.protocol !== b.protocol) return false;
  return a.hostIP === b.hostIP || a.hostIP === ANY_ADDRESS || b.hostIP === ANY_ADDRESS;
}
