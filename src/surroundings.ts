import type { VerbosityControl } from './ports/verbosity-control.ts';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { restartMarks } from './agent/reconcile/restart-marks.ts';
import { stateFiles } from './agent/state-files.ts';
import { type CgroupHierarchy, readCgroupHierarchy } from './base/cgroup-hierarchy.ts';
import { chance } from './base/chance.ts';
import { type Clock, systemClock } from './base/clock.ts';
import type { Logger } from './base/logger.ts';
import { type MachineMemory, readMachineMemory } from './base/machine-memory.ts';
import { makeDirectory } from './base/make-directory.ts';
import { mountsNow } from './base/mount-info.ts';
import { openCluster } from './cluster/open-cluster.ts';
import { openEngine } from './engines/open-engine.ts';
import { HostFilesProcess } from './hostfiles/host-files-process.ts';
import { openNode } from './node/open-node.ts';
import { type ObjectsGround, openObjects } from './objects/open-objects.ts';
import { podDirectory } from './model/pod-directory.ts';
import { lastSeq, TIMELINE_DIRECTORY } from './timeline/ring-segments.ts';
import { notUsable } from './options/file-fault.ts';
import type { KubeletOptions, OptionOrigins } from './options/kubelet-options.ts';
import type { Cluster } from './ports/cluster.ts';
import type { ConfigSource } from './ports/config-source.ts';
import type { Engine } from './ports/engine.ts';
import type { HostFiles } from './ports/host-files.ts';
import type { Ground, NodeParts } from './ports/node-parts.ts';
import type { PodObjects } from './ports/pod-objects.ts';
import type { Staged } from './ports/staged.ts';
import type { ThisNode } from './ports/this-node.ts';

type Opening = Pick<Ground, 'live' | 'clock' | 'log' | 'tell' | 'tracing' | 'random'>;

/** What the agent stands in: all that a test may want to be another. */
export interface Surroundings {
  readonly clock: Clock;
  readonly log: Logger;
  /** By which repeats in the log are counted; absent: `clock`. */
  readonly logClock?: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly origins: OptionOrigins;
  readonly verbosity: VerbosityControl;
  readonly config: ConfigSource;
  /** What runs in stages with the agent, and is no part of it; absent: nothing. */
  readonly beside?: (node: NodeParts) => readonly Staged[];
  /** The number of the last entry that agents before this one have kept; 0: there is none. */
  lastSeq(options: KubeletOptions): number;
  /** The agent's own small files below the root directory, which is made. Rejects where it cannot be. */
  openDisk(options: KubeletOptions, log: Logger): Promise<Pick<Ground, 'files' | 'podFiles' | 'restartMarks'>>;
  /** What looks at files that may never answer. An abort of `stop` ends it. */
  hostFiles(ground: Pick<Ground, 'clock' | 'log'>, stop: AbortSignal): HostFiles;
  cgroups(): Promise<CgroupHierarchy>;
  memory(cgroups: CgroupHierarchy): Promise<MachineMemory>;
  openCluster(options: KubeletOptions, ground: Opening): Promise<Cluster>;
  /** Waits for an engine where it is not known yet what it speaks. An abort of `stop` ends that. */
  openEngine(options: KubeletOptions, ground: Opening & Pick<Ground, 'cgroups' | 'memory' | 'files'>, stop: AbortSignal): Promise<Engine>;
  openNode(
    options: KubeletOptions,
    ground: { readonly cluster: Cluster } & Pick<Ground, 'live' | 'clock' | 'log' | 'cgroups'>,
  ): Promise<ThisNode>;
  openObjects(options: KubeletOptions, ground: ObjectsGround): PodObjects;
}

/** This machine, this process, the cluster and the engine that the options name. */
export function realSurroundings(given: Pick<Surroundings, 'log' | 'origins' | 'verbosity' | 'config' | 'beside'>): Surroundings {
  return {
    ...given,
    clock: systemClock,
    random: chance,
    hostFiles: ({ clock, log }, stop) =>
      new HostFilesProcess({ clock, log, program: besideThis('host-files-main'), table: mountsNow, stop }),
    lastSeq: ({ rootDir, timelineMaxMib }) => (timelineMaxMib === 0 ? 0 : lastSeq(join(rootDir, TIMELINE_DIRECTORY))),
    openDisk,
    cgroups: () => readCgroupHierarchy(),
    memory: readMachineMemory,
    openCluster,
    openEngine,
    openNode,
    openObjects,
  };
}

async function openDisk({ rootDir }: KubeletOptions, log: Logger): Promise<Pick<Ground, 'files' | 'podFiles' | 'restartMarks'>> {
  await makeDirectory(rootDir, 0o750).catch((cause: unknown) => {
    throw new Error(`${notUsable.rootDir(rootDir)} (--root-dir)`, { cause });
  });
  return {
    files: stateFiles(rootDir, { log }),
    podFiles: (uid) => stateFiles(podDirectory(rootDir, uid), { log }),
    restartMarks: restartMarks(rootDir, log),
  };
}

/** A program beside this module, from source as in the bundle. */
function besideThis(name: string): string {
  return fileURLToPath(new URL(`./${name}${extname(import.meta.filename)}`, import.meta.url));
}
