import type { VerbosityControl } from './verbosity-control.ts';
import type { Observable } from 'rxjs';
import type { CgroupHierarchy } from '../base/cgroup-hierarchy.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Live } from '../base/live.ts';
import type { MachineMemory } from '../base/machine-memory.ts';
import type { PodUid } from '../model/pod.ts';
import type { PodUpdate } from '../model/pod-update.ts';
import type { KubeletOptions, LiveOptions, OptionOrigins } from '../options/kubelet-options.ts';
import type { Cluster } from './cluster.ts';
import type { ConfigControl } from './config-source.ts';
import type { Engine } from './engine.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { Happenings } from './happenings.ts';
import type { HostFiles } from './host-files.ts';
import type { PodAllocationsReader } from './pod-allocations.ts';
import type { PodEnds } from './pod-ends.ts';
import type { PodLifecycleEvents } from './pod-lifecycle-events.ts';
import type { PodLivesReader } from './pod-lives.ts';
import type { PodObjects } from './pod-objects.ts';
import type { PodStore } from './pod-store.ts';
import type { RestartMarks } from './restart-marks.ts';
import type { StateFiles } from './state-files.ts';
import type { PodStatuses } from './pod-statuses.ts';
import type { StreamEntries } from './stream-entries.ts';
import type { ThisNode } from './this-node.ts';
import type { Tracing } from './tracing.ts';
import type { WakePod } from './wake-pod.ts';

/** What everything stands on; needs nothing else. */
export interface Ground {
  /** As they were when the agent started. */
  readonly options: KubeletOptions;
  /** Those that may change meanwhile, as they are now. */
  readonly live: Live<LiveOptions>;
  readonly config: ConfigControl;
  readonly origins: OptionOrigins;
  readonly clock: Clock;
  /** Of a capability: under its name as the stream. */
  readonly log: Logger;
  /** As `log`, with repeats of the same line about the same pod within a minute counted: for what may be said again and again. */
  readonly folded: Logger;
  /** What happens, as it is logged. */
  readonly entries: StreamEntries;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly verbosity: VerbosityControl;
  readonly tell: Happenings;
  /** Work runs within it, so that it can be traced. */
  readonly tracing: Tracing;
  readonly files: StateFiles;
  /** A pod's, which go with its directory. Throws where the uid cannot name a directory. */
  readonly podFiles: (uid: PodUid) => StateFiles;
  readonly restartMarks: RestartMarks;
  readonly hostFiles: HostFiles;
  /** As this machine has them; read once, when the agent starts. */
  readonly cgroups: CgroupHierarchy;
  /** As this machine had it when the agent started. */
  readonly memory: MachineMemory;
}

/** The node's parts, made before any capability and given to each. Never undefined: no cluster is a cluster, too. */
export interface NodeParts extends Ground {
  readonly cluster: Cluster;
  readonly engine: Engine;
  readonly node: ThisNode;
  /** Recorded in the log, and in the cluster. */
  readonly events: EventRecorder;
  /** What should run here. */
  readonly pods: PodStore;
  /** Each change of what should run, once. Hot: nothing is missed by who subscribes before the intake starts. */
  readonly updates: Observable<PodUpdate>;
  /** Where each pod stands. */
  readonly lives: PodLivesReader;
  readonly statuses: PodStatuses;
  readonly allocations: PodAllocationsReader;
  readonly objects: PodObjects;
  /** Asks for a look at a pod. */
  readonly wake: WakePod;
  readonly ends: PodEnds;
  readonly pleg: PodLifecycleEvents;
}
