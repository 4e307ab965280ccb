import type { ContainerId } from '../model/container-id.ts';
import type { Observable } from 'rxjs';
import type { ResizableResource } from '../model/effective-resources.ts';
import type { Container, Pod, PodUid } from '../model/pod.ts';
import type { Quantity } from '../model/quantity.ts';
import type { DnsConfig } from '../model/resolv-conf.ts';
import type { IdRange } from '../model/user-namespace.ts';

export type SandboxId = string & { readonly __brand: 'SandboxId' };
export type { ContainerId };

/** Times are milliseconds since the epoch. */
export type ContainerState =
  | {
      readonly phase: 'created';
      /** It did run, and counts as if it had not: it was stopped to be started again. */
      readonly restarts?: true;
    }
  | { readonly phase: 'running'; readonly startedAtMs: number }
  | {
      readonly phase: 'exited';
      /** Of a container that could not be started, this and the end are when it was created. Undefined where the engine does not know. */
      readonly startedAtMs: number | undefined;
      readonly finishedAtMs: number;
      readonly exitCode: number;
      /** Completed, Error, OOMKilled; of one that could not be started ContainerCannotRun (pkg/kubelet/dockershim/docker_container.go) or, by CRI, StartError. */
      readonly reason: string;
      readonly message: string;
    }
  | { readonly phase: 'unknown' };

export interface ObservedContainer {
  readonly id: ContainerId;
  readonly name: string;
  /** The image's name as the pod asked for it where the engine knows it, else what the engine calls it. */
  readonly image: string;
  /** As status.imageID shows it: docker-pullable://repo@digest, or docker://sha256:…; by CRI repo@digest, or sha256:… */
  readonly imageId: string;
  /** All names that the engine has for the image: its id, tags and digests. Undefined where it does not tell. */
  readonly imageNames?: readonly string[] | undefined;
  /** The label that `startContainer` wrote: hexadecimal, see model/container-hash. Others note down hashes of their own. */
  readonly specHash: string;
  /** Counts restarts from 0: the last part of the docker name, and status.restartCount. */
  readonly attempt: number;
  /** The sandbox that it was created in, where the engine knows. */
  readonly sandboxId?: SandboxId | undefined;
  readonly createdAtMs: number;
  readonly state: ContainerState;
  /** As its cgroup has them, where the engine tells. */
  readonly resources?: {
    readonly cpuRequest?: Quantity | undefined;
    readonly cpuLimit?: Quantity | undefined;
    readonly memoryRequest?: Quantity | undefined;
    readonly memoryLimit?: Quantity | undefined;
  };
  /** The CPUs that it was last told to run on, where the engine tells: "0-2,7"; empty: all. */
  readonly cpuset?: string | undefined;
  /** What it is stopped with, where the engine tells: "SIGTERM". */
  readonly stopSignal?: string | undefined;
  /** Of its first process as it began, where the engine tells. */
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups?: readonly number[] };
  /** From the labels, so that a pod that no source knows any more still ends with its own grace period. Seconds. */
  readonly terminationGracePeriodSeconds?: number | undefined;
  readonly deletionGracePeriodSeconds?: number | undefined;
  /** As above, its hook, and the ports that this may name. */
  readonly preStop?: NonNullable<Container['lifecycle']>['preStop'] | undefined;
  readonly ports?: Container['ports'] | undefined;
}

export interface ObservedSandbox {
  readonly id: SandboxId;
  readonly attempt: number;
  readonly createdAtMs: number;
  readonly ready: boolean;
  /** Whose network namespace: the pod's own, or the node's (hostNetwork). */
  readonly network: 'pod' | 'node';
  readonly ips: readonly string[];
}

/** One pod as the engine has it: newest first in both lists. A pod without any container is `{sandboxes: [], containers: []}`. */
export interface ObservedPod {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  readonly sandboxes: readonly ObservedSandbox[];
  readonly containers: readonly ObservedContainer[];
}

/** What one cheap listing tells of a pod. */
export interface PodSummary {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  /** Sandboxes and containers alike; equal summaries mean that nothing changed. */
  readonly parts: readonly {
    readonly id: string;
    /** Undefined: a sandbox. */
    readonly container: string | undefined;
    readonly phase: ContainerState['phase'];
  }[];
}

export interface SandboxSpec {
  readonly attempt: number;
  /** The pod's host name inside; undefined under hostNetwork. */
  readonly hostname: string | undefined;
  /** What its containers' /etc/resolv.conf says; undefined leaves that to the engine. */
  readonly dns?: DnsConfig | undefined;
  /**
   * The pod's cgroup, from the root, as the engine's cgroup driver names it: "/kubepods/burstable/podUID", or
   * "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice" under systemd's. Undefined: the engine's own.
   */
  readonly cgroupParent?: string | undefined;
  /** Which of the engine's handlers runs the pod, as RuntimeClass names it; undefined: its default. The engine refuses one that it does not have. */
  readonly handler?: string | undefined;
  /** The ids that the pod has for itself; undefined: those of the node. An engine whose containers all share one such range takes that. */
  readonly userNamespace?: IdRange | undefined;
}

/** A device of the node that a container gets. */
export interface Device {
  readonly hostPath: string;
  readonly containerPath: string;
  /** Some of "rwm". */
  readonly permissions: string;
}

export interface Mount {
  readonly hostPath: string;
  readonly containerPath: string;
  readonly readOnly: boolean;
  /** What is mounted below it is read-only, too. Of a mount that is read-only and private, and only where the engine can: see EngineFeatures. */
  readonly recursiveReadOnly?: true | undefined;
  /** Whether mounts made later cross over. Private unless said otherwise. */
  readonly propagation?: 'private' | 'hostToContainer' | 'bidirectional' | undefined;
  /** All that is mounted gets the label of the container's processes. Only where the machine labels them: see selinuxIsOn. */
  readonly relabel?: true | undefined;
  /** A group that the container's processes are in, so that they may use what is mounted. */
  readonly supplementalGroup?: number | undefined;
}

/** An image that a container sees, read-only. */
export interface ImageMount {
  /** What the engine calls it. */
  readonly imageRef: string;
  readonly containerPath: string;
  /** A directory or file in the image; undefined: all of it. */
  readonly subPath?: string;
}

/** A container ready to be created: references resolved, `$(VAR)` expanded. */
export interface ContainerSpec {
  /** As in the pod's spec: identity, hash, resources and security context are read from it. */
  readonly container: Container;
  readonly attempt: number;
  /** What to run: an image reference that the engine has. */
  readonly imageRef: string;
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** Entrypoint; undefined keeps the image's. */
  readonly command: readonly string[] | undefined;
  readonly args: readonly string[] | undefined;
  readonly mounts: readonly Mount[];
  /** Only where the engine can: see EngineFeatures. */
  readonly imageMounts?: readonly ImageMount[] | undefined;
  readonly devices?: readonly Device[] | undefined;
  /** Devices by their CDI names, such as "vendor.com/gpu=0". An engine that has no CDI refuses the container. */
  readonly cdiDevices?: readonly string[] | undefined;
  /** Told to the runtime with the container, besides what the agent notes down of its own. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** The CPUs that it may run on, as cgroups name them: "0-2,7"; undefined: all. */
  readonly cpuset?: string | undefined;
  /** The NUMA nodes that its memory may come from, likewise. */
  readonly cpusetMems?: string | undefined;
  /** As the sandbox's. */
  readonly cgroupParent?: string | undefined;
  readonly handler?: string | undefined;
  /** The container of the same pod whose processes it sees: an ephemeral container's target. */
  readonly target?: ContainerId | undefined;
}

/** What can be changed of a container as it runs. */
export type ContainerChange = ResizableResource | { readonly cpuset: string };

/** A sandbox whose network is up. */
export interface RunningSandbox {
  readonly id: SandboxId;
  /** The pod's own addresses, primary first; none on the node's network. */
  readonly ips: readonly string[];
}

/** A container that was created ahead of its start. */
export interface CreatedContainer {
  /**
   * As `startContainer`, without creating it again; where `spec` asks for another container by now, that one takes its place.
   * The sandbox must run by then.
   */
  start(spec: ContainerSpec, signal: AbortSignal): Promise<ContainerId>;
}

export interface EngineInfo {
  /** "docker", "containerd", "fake". */
  readonly name: string;
  readonly version: string;
  readonly apiVersion: string;
}

/**
 * What this agent asks of a container engine. Safe to repeat: stop and remove succeed when the thing is already gone, and a
 * create whose name is taken by a leftover of the same pod replaces or adopts it. Every call ends within its deadline, with an error that names
 * the call. An aborted signal rejects with the signal's reason.
 */
export interface ContainerRuntime {
  /** Pods that may have changed. Cold, lossy by contract: a hint to look, never the truth. Reconnects inside; never errors or completes. */
  readonly hints: Observable<PodUid>;
  info(signal: AbortSignal): Promise<EngineInfo>;
  /** Every pod that has a sandbox or a container, dead or alive; one engine call. */
  listPods(signal: AbortSignal): Promise<readonly PodSummary[]>;
  observePod(uid: PodUid, signal: AbortSignal): Promise<ObservedPod>;
  /**
   * Creates and starts what holds the pod's network and IPC namespaces. `onCreated` is called in between. Rejects with
   * SandboxImageMissingError where the engine needs an image for it that the agent has to pull; an engine that pulls its own never does.
   */
  runSandbox(pod: Pod, spec: SandboxSpec, signal: AbortSignal, onCreated?: (id: SandboxId) => void): Promise<RunningSandbox>;
  /** Takes a sandbox that need not run yet. Rejects with ContainerStartError (CreateContainerError). */
  createContainer(pod: Pod, sandbox: SandboxId, spec: ContainerSpec, signal: AbortSignal): Promise<CreatedContainer>;
  /**
   * Creates and starts. One that was created and never started is created again: what its spec was made of may have changed since.
   * Rejects with ContainerStartError (CreateContainerError, RunContainerError).
   */
  startContainer(pod: Pod, sandbox: SandboxId, spec: ContainerSpec, signal: AbortSignal): Promise<ContainerId>;
  /**
   * Gives a container as it runs the CPU or the memory that its spec in the pod says by now, or these CPUs to run on; what it has of the rest
   * stays. Rejects where it uses more memory than it is to have, and changes nothing then.
   */
  updateContainer(id: ContainerId, pod: Pod, container: Container, change: ContainerChange, signal: AbortSignal): Promise<void>;
  /** SIGTERM (or the image's stop signal), then SIGKILL after `graceMs`. Resolves when it has ended. An abort stops the waiting, not the stopping. */
  stopContainer(id: ContainerId, graceMs: number, signal: AbortSignal): Promise<void>;
  removeContainer(id: ContainerId, signal: AbortSignal): Promise<void>;
  stopSandbox(id: SandboxId, signal: AbortSignal): Promise<void>;
  /** With the containers in it. */
  removeSandbox(id: SandboxId, signal: AbortSignal): Promise<void>;
}
