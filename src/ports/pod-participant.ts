import type { NodeUse } from '../model/node-use.ts';
import type { PodRefusal } from '../model/pod-admission.ts';
import type { Container, ContainerStatus, Pod, PodUid } from '../model/pod.ts';
import type { ContainerSpec, Mount, SandboxSpec } from './container-runtime.ts';

/** Something of the pod is as it was before: it goes on with that. */
export interface OutOfDate {
  readonly message: string;
  /** When to try again, in milliseconds from now. */
  readonly retryInMs: number;
}

/** What a participant gives a sandbox: all but its attempt. */
export type SandboxAdditions = Partial<Omit<SandboxSpec, 'attempt'>>;

/** What a participant gives a container. */
export interface ContainerAdditions {
  /** Goes before what was there under the same name. */
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  /** After those of the participants before. */
  readonly mounts?: readonly Mount[];
  readonly devices?: ContainerSpec['devices'];
  /** Each once, whoever gives it. */
  readonly cdiDevices?: readonly string[];
  /** Before those of the same name of the participants before. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly cpuset?: string;
  readonly cpusetMems?: string;
  /** As of its sandbox, for engines that make each container by itself. */
  readonly cgroupParent?: string;
  readonly handler?: string;
}

/** How devices of a container do (status.containerStatuses[].allocatedResourcesStatus). */
export type ResourceHealth = NonNullable<ContainerStatus['allocatedResourcesStatus']>;
export type ResourceHealthByContainer = Readonly<Record<string, ResourceHealth>>;

/** What is known of a container when it is about to be made. */
export interface ContainerInMaking {
  /** Its environment so far, that of the participants before included. */
  readonly env: ReadonlyMap<string, string>;
  /** What the engine calls the images that the container is to be shown and the engine does not mount, by volume; undefined: there are none. */
  readonly images?: ReadonlyMap<string, string> | undefined;
  /** The pod's addresses, primary first; `unknown`: its sandbox is only starting, and what depends on them is not written yet. */
  readonly podIps: () => Promise<readonly string[] | 'unknown'>;
}

/** What the cgroup of a pod is set to. Microseconds and bytes; 0, and -1 for the quota: not limited. */
export interface PodCgroup {
  readonly cpuShares: number;
  readonly cpuQuota: number;
  readonly cpuPeriod: number;
  readonly memory: number;
}

/**
 * A part in the life of each pod. Participants act in the order of the list of capabilities, and release in the reverse one. All of it is
 * safe to repeat, and all of it is in the pod's record. A step that takes all of them longer than 5 minutes, or one of them to release, has
 * failed and is retried. When `signal` aborts, they reject within 5 s and hold nothing that `release` does not
 * release: later nothing waits for them.
 */
export interface PodParticipant {
  /**
   * Why the pod may not run here beside those that were admitted before; undefined: it may. May allocate: where another refuses, `release`
   * follows. All pods that are to be admitted wait for the answer: after 10 s it is a failure.
   */
  admit?(pod: Pod, others: NodeUse, signal: AbortSignal): Promise<PodRefusal | undefined>;
  /**
   * What `admit` would say, by looking alone, of a pod that is only planned: nothing is allocated, ended or asked for. Without it a plan does
   * not say what `admit` would.
   */
  wouldAdmit?(pod: Pod, others: NodeUse, signal: AbortSignal): Promise<PodRefusal | undefined>;
  /** Makes room for a pod that was refused beside these. Resolves with whether to ask for its admission again; after 2 minutes it has failed. */
  makeRoom?(pod: Pod, refusal: PodRefusal, others: NodeUse, signal: AbortSignal): Promise<boolean>;
  /**
   * Makes what the pod needs, before its sandbox and before containers start, and keeps it up to date while it runs. Rejects where the pod
   * cannot go on without it.
   */
  prepare?(pod: Pod, signal: AbortSignal): Promise<OutOfDate | undefined>;
  /**
   * Whether `prepare` would find nothing to do, and so is left out. Asked at each look, and answers from what it knows; absent: `prepare` has to
   * look for itself each time.
   */
  isPrepared?(pod: Pod): boolean;
  sandbox?(pod: Pod, signal: AbortSignal): Promise<SandboxAdditions>;
  container?(pod: Pod, container: Container, making: ContainerInMaking, signal: AbortSignal): Promise<ContainerAdditions>;
  /** The CPUs that a container of the pod is to run on by now; undefined: it stays where it is. Asked at each look, and answers from what it knows. */
  cpuset?(uid: PodUid, container: string): string | undefined;
  /**
   * How the devices do that containers of the pod have, by container; undefined: they have none here. Asked at each look, and answers from what
   * it knows, with the same object where nothing has changed.
   */
  resourceHealth?(uid: PodUid): ResourceHealthByContainer | undefined;
  /** What the pod's own cgroup is set to; undefined: it has none. Asked at each look, and answers from what it knows. */
  cgroup?(uid: PodUid): PodCgroup | undefined;
  /** The pod has ended for good and is still declared: what only a running pod needs is released. */
  tearDown?(uid: PodUid, signal: AbortSignal): Promise<void>;
  /** Nothing of the pod is in the engine any more: all that it had here is released. */
  release?(uid: PodUid, signal: AbortSignal): Promise<void>;
  /**
   * Whether the API server may not hear of the pod's end yet: with it, others get what is still in use here. Answers from what it knows; once it
   * changes its mind, `tearDown` or `release` has done that.
   */
  holdsEnd?(uid: PodUid): boolean;
  /** What of the pod is still here, in words; undefined: nothing. An answer that takes longer than 10 s is a failure. */
  remains?(uid: PodUid, signal: AbortSignal): Promise<string | undefined>;
}
