/** One of the engine's handlers, as RuntimeClasses name them, and what it can do for a pod. */
export interface EngineHandler {
  /** Empty for the default. */
  readonly name: string;
  /** A read-only mount can be read-only with all that is mounted below it. */
  readonly recursiveReadOnly: boolean;
  /** A pod can have a user namespace of its own. */
  readonly userNamespaces: boolean;
}

/** The control groups of this machine, as the engine uses them. */
export interface EngineCgroups {
  readonly driver: 'cgroupfs' | 'systemd';
  readonly version: 1 | 2;
}

/** What a container engine can do that not all can; the Node shows it (status.runtimeHandlers, status.features). */
export interface EngineFeatures {
  /** The default first. */
  readonly handlers: readonly EngineHandler[];
  /** A container can have the supplemental groups that its pod names, and no others: supplementalGroupsPolicy Strict. */
  readonly supplementalGroupsPolicy: boolean;
  /** How often a container can have one image mounted: Docker 28 mounts each at one place only. */
  readonly imageVolumes: 'never' | 'once' | 'often';
  /** A pod with a user namespace has ids of its own, and its volumes show their owners by them; absent: all its pods share one range of ids. */
  readonly idsForEachPod?: true;
  /** Undefined: its containers have none, or none that could be limited. */
  readonly cgroups?: EngineCgroups | undefined;
}
