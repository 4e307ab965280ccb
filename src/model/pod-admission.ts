import { type AppArmorHost, appArmorFault } from './app-armor.ts';
import { fitPod, type PodFit } from './fit-pod.ts';
import { forbiddenPrivilege, type HostPrivileges } from './host-privileges.ts';
import type { InsufficientResource } from './node-fit.ts';
import { hasPodLevelResources } from './pod-level-resources.ts';
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
  | 'TaintToleration'
  | 'PodOSSelectorNodeLabelDoesNotMatch'
  | 'PodOSNotSupported'
  | 'SupplementalGroupsPolicyNotSupported'
  | 'UnexpectedAdmissionError'
  | 'NodeShutdown'
  | 'TopologyAffinityError'
  | 'SMTAlignmentError'
  | 'SysctlForbidden'
  | 'AppArmor'
  | 'PodLevelResourcesNotSupported'
  | 'Forbidden'
  | UnsupportedDemand['reason']
  | `OutOf${string}`;

/** Why a pod may not run on this node. */
export interface PodRefusal {
  readonly reason: PodRefusalReason;
  readonly message: string;
  /** All that the node lacks for the pod, where it lacks nothing else: room would help. */
  readonly lacking?: readonly InsufficientResource[];
}

/** What this node lets pods have. */
export interface AdmissionRules {
  readonly allowedUnsafeSysctls: readonly string[];
  readonly privileges: HostPrivileges;
  readonly appArmor: AppArmorHost;
  /** Whether pods may have resources as a whole. */
  readonly podLevelResources: boolean;
}

export interface PodAdmission extends PodFit {
  /** Matters where the pod depends on the engine. */
  readonly engine: EngineSupport;
}

/**
 * Whether the pod may run here: undefined, or the first reason against it. Checks what it wants of the machine, then what the scheduler
 * should have seen to (pkg/kubelet/lifecycle/predicate.go), then how it wants to be confined. What newer kubelets refuse for good and
 * release 1.20 left pending, AppArmor, is refused for good. That there is no room comes last: others are not ended for a pod that is refused
 * all the same.
 */
export function admitPod(admission: PodAdmission, rules: AdmissionRules): PodRefusal | undefined {
  const { pod } = admission;
  const sysctl = forbiddenSysctl(pod, rules.allowedUnsafeSysctls);
  if (sysctl !== undefined) return { reason: 'SysctlForbidden', message: sysctl };
  if (!rules.podLevelResources && hasPodLevelResources(pod))
    return { reason: 'PodLevelResourcesNotSupported', message: 'PodLevelResources feature gate is disabled' };
  const misplaced = fitPod(admission);
  if (misplaced && !misplaced.lacking) return misplaced;
  const privilege = forbiddenPrivilege(pod, rules.privileges);
  if (privilege !== undefined) return { reason: 'Forbidden', message: privilege };
  const unsupported = unsupportedDemand(pod, admission.engine);
  if (unsupported) return unsupported;
  const unconfined = appArmorFault(pod, rules.appArmor);
  return unconfined === undefined ? misplaced : { reason: 'AppArmor', message: `Cannot enforce AppArmor: ${unconfined}` };
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
