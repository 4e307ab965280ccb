import { anySignal } from '../base/any-signal.ts';
import type { CgroupHierarchy } from '../base/cgroup-hierarchy.ts';
import type { Clock } from '../base/clock.ts';
import type { CsiVolumes } from '../ports/csi-volumes.ts';
import type { HostFiles } from '../ports/host-files.ts';
import type { PodStats } from '../ports/pod-stats.ts';
import type { PodStore } from '../ports/pod-store.ts';
import type { RunningPods } from '../ports/running-pods.ts';
import type { PodStatuses } from '../ports/pod-statuses.ts';
import { cgroupReader } from './cgroup-reader.ts';
import { DirectoryUsages } from './directory-usages.ts';
import { FileSystems } from './file-systems.ts';
import { type DaemonCgroups, NodeMeter } from './node-meter.ts';
import { PodMeter } from './pod-meter.ts';
import { SharedMeasure } from './shared-measure.ts';

export interface PodStatsDeps {
  readonly clock: Clock;
  readonly cgroups: CgroupHierarchy;
  readonly running: RunningPods;
  /** For claims that volumes refer to. */
  readonly pods: Pick<PodStore, 'get'>;
  /** What CSI drivers say of their volumes. */
  readonly csi?: CsiVolumes['usage'];
  /** For when a pod started. */
  readonly statuses: Pick<PodStatuses, 'get'>;
  /** --root-dir */
  readonly rootDir: string;
  /** Looks at what is not the agent's own. */
  readonly hostFiles: HostFiles;
  /** Where the engine keeps images and what containers write; undefined: not on this machine. */
  readonly imageDir: (signal: AbortSignal) => Promise<string | undefined>;
  /** What the engine's images take, in bytes. Asked for at most once a minute. */
  readonly imageBytes?: (signal: AbortSignal) => Promise<number | undefined>;
  /** The cgroup that all pods' cgroups are in: "/kubepods". Undefined: pods have none, or it is not known yet. */
  readonly podsCgroup?: () => string | undefined;
  /** The cgroups of the node's daemons, by the name that their use is reported under; '': not known. */
  readonly daemonCgroups?: DaemonCgroups;
  /** Where the engine's daemon writes its process id. */
  readonly runtimePidFile?: string;
  /** "/proc"; another one is for tests. */
  readonly proc?: string;
}

export interface OwnedPodStats extends PodStats {
  /** Ends counting that is under way. What still waits for it rejects. */
  close(): void;
}

const FRESH_MS = 1_000;
const ENGINE_FACTS_FRESH_MS = 60_000;
/** How long the first asker waits for directories to be counted: mostly there is little in them. */
const FIRST_COUNT_MS = 200;
/** How long who wants all counted afresh waits for it. */
const AFRESH_MS = 10_000;

/** What the node and its pods use, from cgroups, /proc and file systems. Measured only when asked for; nothing runs in between. */
export function podStats(deps: PodStatsDeps): OwnedPodStats {
  const {
    clock,
    csi,
    running,
    pods,
    statuses,
    rootDir,
    podsCgroup = () => undefined,
    daemonCgroups = {},
    runtimePidFile = '/var/run/docker.pid',
    proc = '/proc',
  } = deps;
  const closing = new AbortController();
  const { signal } = closing;
  const reader = cgroupReader(deps.cgroups);
  const fileSystems = new FileSystems({ clock, hostFiles: deps.hostFiles, signal });
  const directories = new DirectoryUsages({ clock, signal });
  /** What the engine does not answer now is left out. */
  const imageFacts = <T>(ask: ((signal: AbortSignal) => Promise<T | undefined>) | undefined): (() => Promise<T | undefined>) => {
    const shared = new SharedMeasure<T | undefined>(clock, ENGINE_FACTS_FRESH_MS, async () => ask?.(signal));
    return () => shared.ask(signal).catch(() => undefined);
  };
  const imageDir = imageFacts(deps.imageDir);

  const podMeter = new PodMeter({
    clock,
    running,
    statuses,
    reader,
    proc,
    rootDir,
    imageDir,
    fileSystems,
    directories,
    declared: (uid) => pods.get(uid)?.pod,
    csi: csi && ((uid, name) => csi(uid, name, signal)),
    signal,
  });
  const everyPod = async (): ReturnType<PodMeter['everything']> => {
    const first = await podMeter.everything();
    return directories.counting ? counted(FIRST_COUNT_MS) : first;
  };
  const everyPodAfresh = async (): ReturnType<PodMeter['everything']> => {
    directories.expire();
    // Begins to count.
    await podMeter.everything();
    return counted(AFRESH_MS);
  };
  const counted = async (patienceMs: number): ReturnType<PodMeter['everything']> => {
    using enough = anySignal(signal);
    const tooLong = clock.sleep(patienceMs, enough.signal).catch(() => {});
    await Promise.race([directories.settled(), tooLong]);
    enough.abort();
    return podMeter.everything();
  };
  const measured = <T>(measure: () => Promise<T>): SharedMeasure<T> => new SharedMeasure(clock, FRESH_MS, measure);
  const podsCheaply = measured(() => podMeter.cpuAndMemory());
  const podsFully = measured(everyPod);
  const podsAfresh = measured(everyPodAfresh);
  const nodeMeter = new NodeMeter({
    clock,
    reader,
    proc,
    rootDir,
    imageDir,
    imageBytes: imageFacts(deps.imageBytes),
    fileSystems,
    daemonCgroups,
    podsCgroup,
    runtimePidFile,
    pods: () => podsCheaply.ask(signal),
    signal,
  });
  const nodeCheaply = measured(() => nodeMeter.cpuAndMemory());
  const nodeFully = measured(() => nodeMeter.everything());
  const machine = measured(() => nodeMeter.machine());
  const nodeSignals = measured(() => nodeMeter.signals());
  const nodeOf = { cpuAndMemory: nodeCheaply, machine, signals: nodeSignals };

  return {
    node: (asker, only) => (only ? nodeOf[only] : nodeFully).ask(asker),
    pods: (asker, how) => (how === 'afresh' ? podsAfresh : how ? podsCheaply : podsFully).ask(asker),
    close: () => closing.abort(new Error('stats are closed')),
  };
}
