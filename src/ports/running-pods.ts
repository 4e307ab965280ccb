import type { PodUid } from '../model/pod.ts';
import type { ContainerId } from './container-runtime.ts';

/** A container whose process runs: what it takes to find what it uses. */
export interface RunningContainer {
  readonly id: ContainerId;
  /** SANDBOX_NAME for a sandbox. */
  readonly name: string;
  /** As the engine calls it: "k8s_web_web-0_default_UID_0". */
  readonly engineName: string;
  /** As the container was created with. */
  readonly image: string;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly pid: number;
  /** What the engine was asked for; undefined: it does not say. */
  readonly cpuShares?: number | undefined;
  /** The engine's log file; beside it lie those that were rotated. */
  readonly logPath?: string | undefined;
  /** The directory of what the container has written into its own file system. */
  readonly writableLayer?: string | undefined;
}

export interface RunningPod {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  /** Whose network the sandbox is on. */
  readonly network: 'pod' | 'node';
  readonly sandbox?: RunningContainer | undefined;
  readonly containers: readonly RunningContainer[];
}

/** What runs, process by process: for those who measure. */
export interface RunningPods {
  list(signal: AbortSignal): Promise<readonly RunningPod[]>;
  /** The container's process is not the listed one: look at it again the next time. */
  stale(id: ContainerId): void;
}
