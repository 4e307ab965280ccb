import type { V1ObjectReference } from '@kubernetes/client-node';
import type { ResizeEventReason } from '../model/pod-allocations.ts';
import type { PodRefusalReason } from '../model/pod-admission.ts';
import type { Pod } from '../model/pod.ts';

/** The kubelet's reasons (pkg/kubelet/events/event.go), as far as this agent has cause for them; FieldNotHonoured, ConfigRestartNeeded and InvalidConfig are its own. */
export type EventReason =
  | 'Pulling'
  | 'Pulled'
  | 'Created'
  | 'Started'
  | 'Killing'
  | 'BackOff'
  | 'Failed'
  | 'ErrImageNeverPull'
  | 'FailedToRetrieveImagePullSecret'
  | 'InspectFailed'
  | 'FailedCreatePodSandBox'
  | 'SandboxChanged'
  | 'FailedKillPod'
  | 'FailedSync'
  | 'DeadlineExceeded'
  | 'FailedValidation'
  | 'NameConflict'
  | 'FieldNotHonoured'
  | 'ExceededGracePeriod'
  | 'FailedMount'
  | 'FailedMapVolume'
  | 'FileSystemResizeSuccessful'
  | 'VolumeResizeFailed'
  | 'FailedPrepareDynamicResources'
  | 'InvalidEnvironmentVariableNames'
  | 'Unhealthy'
  | 'ProbeWarning'
  | 'FailedPostStartHook'
  | 'FailedPreStopHook'
  | 'NetworkNotReady'
  | 'DNSConfigForming'
  | 'MissingClusterDNS'
  | 'Preempting'
  | ResizeEventReason
  // About the node.
  | 'CheckLimitsForResolvConf'
  | 'EvictionThresholdMet'
  | 'Starting'
  | 'NodeAllocatableEnforced'
  | 'FailedNodeAllocatableEnforcement'
  | 'Rebooted'
  | 'NodeReady'
  | 'NodeNotReady'
  | 'NodeSchedulable'
  | 'NodeNotSchedulable'
  | 'NodeHasSufficientMemory'
  | 'NodeHasInsufficientMemory'
  | 'NodeHasNoDiskPressure'
  | 'NodeHasDiskPressure'
  | 'NodeHasSufficientPID'
  | 'NodeHasInsufficientPID'
  | 'NodeShutdown'
  | 'FreeDiskSpaceFailed'
  | 'ImageGCFailed'
  | 'InvalidDiskCapacity'
  | 'SystemOOM'
  | 'ConfigRestartNeeded'
  | 'InvalidConfig'
  | PodRefusalReason;

/** Never throws and never waits: correlation, rate limits and sending happen elsewhere. */
export interface EventRecorder {
  /** `container` sharpens the reference to spec.containers{name}; annotations are the event's own. */
  record(
    about: Pod | V1ObjectReference,
    type: 'Normal' | 'Warning',
    reason: EventReason,
    message: string,
    container?: string,
    annotations?: Readonly<Record<string, string>>,
  ): void;
}
