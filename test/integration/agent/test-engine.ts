export interface EngineContainer {
  readonly id: string;
  /** As Docker has it: k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT. */
  readonly name: string;
  readonly pod: string;
  readonly uid: string;
  /** "POD" for a sandbox. */
  readonly container: string;
  readonly state: string;
  readonly attempt: number;
}

export interface SeenEvent {
  /** In Docker's words. */
  readonly action: string;
  readonly id: string;
  readonly pod: string;
  readonly uid: string;
  readonly container: string;
  readonly attempt: number;
  readonly atMs: number;
}

export interface EngineInspect {
  readonly Id: string;
  readonly Name: string;
  readonly State: {
    readonly StartedAt: string;
    readonly FinishedAt: string;
    readonly Status: string;
    readonly ExitCode: number;
    readonly Pid: number;
  };
  /** Labels as Docker has them: annotations are among them, behind "annotation.". */
  readonly Config: { readonly Labels: Record<string, string>; readonly Env: string[]; readonly Hostname: string };
  readonly HostConfig: {
    readonly Memory: number;
    /** Both together. */
    readonly MemorySwap: number;
    readonly CpuShares: number;
    readonly CpuPeriod: number;
    readonly CpuQuota: number;
    readonly CgroupParent: string;
    readonly PidsLimit: number | null;
    readonly CpusetCpus: string;
    readonly CpusetMems: string;
  };
  readonly LogPath: string;
}

/** How engines differ in what tests of the agent look at. */
export interface TestEngineFacts {
  /** It writes and rotates the logs, by what the agent asked for when it made a container. */
  readonly rotatesLogs: boolean;
  /** A line of a container's log file. */
  readonly logLine: (text: string, stream: 'stdout' | 'stderr') => RegExp;
  /** Of containers for which none is asked for, as `inspect` shows it. */
  readonly ownCgroupParent: string;
  /** It tells how far a pull is, and ends one that nothing comes of as soon as the agent has no more patience; others have minutes of their own. */
  readonly tellsPullProgress: boolean;
  /** A command ends when its outputs have nobody to go to; otherwise it stays in its container, as with a kubelet. */
  readonly endsAbandonedCommands: boolean;
  /** As traces name the calls that make a container and start it. */
  readonly callsOfAStart: readonly string[];
}

/** A look at the engine that is not the agent's own: containers of pods whose name begins with a prefix. */
export interface TestEngine {
  readonly facts: TestEngineFacts;
  /** By which an agent drives it. */
  readonly agentFlags: readonly string[];
  /** All that was heard, in the engine's order: "create", "start", "die" and "destroy". */
  readonly events: readonly SeenEvent[];
  /** Hears events from now on. To be called again when the engine was away. */
  listen(): Promise<void>;
  /** Oldest first. */
  containers(): Promise<readonly EngineContainer[]>;
  kill(id: string, signal?: string): Promise<unknown>;
  /** Kills and removes it. */
  remove(id: string): Promise<void>;
  inspect(id: string): Promise<EngineInspect>;
  /** With which it ends. */
  exitCode(id: string): Promise<number>;
  /** Names of the images that are there. */
  images(): Promise<readonly string[]>;
  removeImage(image: string): Promise<void>;
  /** Removes what a test left, and stops listening. */
  dispose(): Promise<void>;
}
