import { type AppArmorHost, appArmorFault } from './app-armor.ts';
import { isCriticalPod } from './critical-pod.ts';
import { forbiddenPrivilege, type HostPrivileges } from './host-privileges.ts';
import { matchesNode } from './node-affinity.ts';
import { insufficientResources } from './node-fit.ts';
import type { NodeUse } from './node-use.ts';
import type { Node } from './node.ts';
import type { Pod, PodStatus } from './pod.ts';
import { podQosClass } from './qos.ts';
import { forbiddenSysctl } from './sysctls.ts';
import { type EngineSupport, type UnsupportedDemand, unsupportedDemand } from './unsupported-demand.ts';

/** In the words of status.reason (pkg/kubelet/lifecycle, pkg/kubelet/sysctl, pkg/kubelet/cm). */
export type PodRefusalReason =
  | 'Evicted'
  | 'InvalidNodeInfo'
  | 'NodeAffinity'
  | 'NodeName'
  | 'NodePorts'
  | 'UnexpectedAdmissionError'
  | 'TopologyAffinityError'
  | 'SMTAlignmentError'
  | 'SysctlForbidden'
  | 'AppArmor'
  | 'Forbidden'
  | UnsupportedDemand['reason']
  | `OutOf${string}`;

/** Why a pod may not run on this node. */
export interface PodRefusal {
  readonly reason: PodRefusalReason;
  readonly message: string;
}

/** What this node lets pods have. */
export interface AdmissionRules {
  readonly allowedUnsafeSysctls: readonly string[];
  readonly privileges: HostPrivileges;
  readonly appArmor: AppArmorHost;
}

export interface PodAdmission {
  readonly pod: Pod;
  /** Admitted before, and not over yet. */
  readonly otherPods: NodeUse;
  /** Undefined: it cannot be had. Without `allocatable` its resources are not judged. */
  readonly node: Node | undefined;
  /** Matters where the pod depends on the engine. */
  readonly engine: EngineSupport;
}

/**
 * Whether the pod may run here: undefined, or the first reason against it. Checks what it wants of the machine, then what the scheduler
 * should have seen to (pkg/kubelet/lifecycle/predicate.go), then how it wants to be confined. What newer kubelets refuse for good and
 * release 1.20 left pending, AppArmor, is refused for good.
 */
export function admitPod(admission: PodAdmission, rules: AdmissionRules): PodRefusal | undefined {
  const { pod } = admission;
  const sysctl = forbiddenSysctl(pod, rules.allowedUnsafeSysctls);
  if (sysctl !== undefined) return { reason: 'SysctlForbidden', message: sysctl };
  const misplaced = fitPod(admission);
  if (misplaced) return misplaced;
  const privilege = forbiddenPrivilege(pod, rules.privileges);
  if (privilege !== undefined) return { reason: 'Forbidden', message: privilege };
  const unsupported = unsupportedDemand(pod, admission.engine);
  if (unsupported) return unsupported;
  const unconfined = appArmorFault(pod, rules.appArmor);
  return unconfined === undefined ? undefined : { reason: 'AppArmor', message: `Cannot enforce AppArmor: ${unconfined}` };
}

/**
 * The predicates in the kubelet's order: resources, node selector and affinity, node name, host ports. A critical pod is never refused
 * for want of resources.
 */
export function fitPod({ pod, otherPods, node }: Omit<PodAdmission, 'engine'>): PodRefusal | undefined {
  if (node === undefined) return { reason: 'InvalidNodeInfo', message: 'Kubelet cannot get node info.' };
  const { spec } = pod;
  const { allocatable } = node.status ?? {};
  const [lacking] = allocatable === undefined || isCriticalPod(pod) ? [] : insufficientResources(pod, otherPods, allocatable);
  if (lacking) {
    const { resource, requested, used, capacity } = lacking;
    const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
    return { reason: `OutOf${resource}`, message: `Node didn't have enough resource: ${resource}, ${amounts}` };
  }
  if (!matchesNode(spec, node)) return predicateFailed('NodeAffinity');
  if (spec.nodeName && spec.nodeName !== node.metadata?.name) return predicateFailed('NodeName');
  return otherPods.collidesWith(pod) ? predicateFailed('NodePorts') : undefined;
}

/** The status of a pod that was refused. It is never started (Kubelet.rejectPod; the message's beginning as of 1.29). */
export function rejectPod(pod: Pod, { reason, message }: PodRefusal): PodStatus {
  const { conditions } = pod.status ?? {};
  const { generation } = pod.metadata;
  return {
    phase: 'Failed',
    reason,
    message: `Pod was rejected: ${message}`,
    qosClass: podQosClass(pod),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
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
