import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EvictionManager, type EvictionSettings } from '../../../src/eviction/eviction-manager.ts';
import { NodeReclaim } from '../../../src/eviction/node-reclaim.ts';
import { refusalUnderPressure } from '../../../src/eviction/refusal-under-pressure.ts';
import { parseThresholds } from '../../../src/model/eviction/parse-thresholds.ts';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import type { Reclaimer } from '../../../src/ports/node-participant.ts';
import type { PodEnd } from '../../../src/ports/pod-ends.ts';
import type { FilesystemStats, MemoryStats, NodeUsage, PodUsage } from '../../../src/ports/pod-stats.ts';
import { nodeUnderTest, nothingGiven } from '../../builders/node-parts.ts';
import { aPodThat } from '../../builders/pods-that.ts';
import { measured, type StatsInput } from '../../vectors/adapters/eviction-stats.ts';

type Texts = Readonly<Record<string, string>>;
type NodeNumbers = Readonly<Record<string, number>>;
interface Step {
  readonly atMs: number;
  readonly statsAtMs?: number;
  readonly node: NodeNumbers;
  readonly afterReclaim?: NodeNumbers;
  readonly podStats?: readonly StatsInput[];
  readonly activePods?: readonly string[];
}
interface History {
  readonly name: string;
  readonly in: {
    readonly config: {
      readonly hard?: Texts;
      readonly soft?: Texts;
      readonly softGracePeriod?: Texts;
      readonly minimumReclaim?: Texts;
      readonly enforceNodeAllocatable?: readonly string[];
      readonly maxPodGracePeriodSec: number;
      readonly pressureTransitionPeriodSec: number;
      readonly dedicatedImageFs: boolean;
    };
    readonly pods: readonly Pod[];
    readonly steps: readonly Step[];
  };
  readonly out: readonly {
    readonly conditions: readonly string[];
    readonly evicted: readonly string[];
    readonly kills: readonly { readonly gracePeriodSec: number }[];
    readonly imageGC: boolean;
    readonly containerGC: boolean;
    readonly admit?: Readonly<Record<'bestEffort' | 'burstable' | 'critical' | 'tolerant', boolean>>;
  }[];
}

const file = join(import.meta.dirname, '../../vectors/evictionManager.json');
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { readonly cases: readonly History[] };
const { signal } = new AbortController();
/** Today what containers write counts against the pod's limit on whatever disk it lies (podStats.EphemeralStorage). */
const older = new Set(['local storage limits #1 imageFs true', 'local storage limits #3 imageFs true']);

for (const { name, in: given, out } of cases.filter((each) => hasTransition(each) && !older.has(each.name)))
  test(`as a kubelet decides: ${name}`, async () => assert.deepEqual(await decided(given), out.map(expected)));

/** A kubelet without a transition period never reports pressure; this agent does while there is some. */
function hasTransition({ in: { config } }: History): boolean {
  return config.pressureTransitionPeriodSec > 0;
}

const expected = ({ conditions, evicted, kills, imageGC, containerGC, admit }: History['out'][number]): unknown => ({
  conditions,
  evicted: evicted.toSorted(),
  // Where there is no time to lose, 1.20.2 gave none at all.
  graces: kills.map(({ gracePeriodSec }) => Math.max(1, gracePeriodSec)),
  freed: [...(containerGC ? ['containerfs'] : []), ...(imageGC ? ['imagefs'] : [])],
  admitted: admit ? ([admit.bestEffort, admit.burstable, admit.critical, admit.tolerant] as const) : undefined,
});

const bestEffort = aPodThat('best-effort');
const judged: readonly Pod[] = [
  bestEffort,
  aPodThat('burstable', { containers: [{ name: 'c', resources: { requests: { memory: '1Mi' } } }] }),
  aPodThat('critical', { priority: 2_000_000_000 }),
  aPodThat('tolerant', { tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }] }),
];

async function decided({ config, pods, steps }: History['in']): Promise<unknown> {
  let ends: [PodUid, PodEnd][] = [];
  const scene = nodeUnderTest({ ends: { end: (uid, end) => void ends.push([uid, end]), of: () => undefined, startOver: () => {} } });
  // Freeing waits a second before it looks again: in these histories no time passes.
  Object.assign(scene.clock, { sleep: async () => {} });
  const settings: EvictionSettings = {
    thresholds: parseThresholds({
      evictionHard: config.hard ?? {},
      evictionSoft: config.soft ?? {},
      evictionSoftGracePeriod: config.softGracePeriod ?? {},
      evictionMinimumReclaim: config.minimumReclaim ?? {},
      enforceNodeAllocatable: config.enforceNodeAllocatable ?? [],
    }).thresholds,
    transitionMs: config.pressureTransitionPeriodSec * 1000,
    maxPodGraceSeconds: config.maxPodGracePeriodSec,
    localStorageCapacityIsolation: true,
  };
  const manager = new EvictionManager(scene.node, () => settings);
  let node: NodeUsage;
  let atMs = 0;
  let podStats: readonly StatsInput[] = [];
  let step: Step | undefined;
  let freed: string[] = [];
  const reclaimer = (resource: Reclaimer['resource']): Reclaimer => ({
    name: resource,
    resource,
    reclaim: async () => {
      freed.push(resource);
      if (step?.afterReclaim) node = usageOf({ ...step.node, ...step.afterReclaim }, atMs + 1, config.dedicatedImageFs);
      return 0;
    },
  });
  const stats = {
    node: async () => node,
    pods: async () =>
      measured(pods, podStats).flatMap(({ pod, usage }) => (usage ? [{ ...usage, ephemeralStorage: stored(pod, usage) }] : [])),
  };
  const reclaim = new NodeReclaim([reclaimer('containerfs'), reclaimer('imagefs')], { clock: scene.clock, log: scene.log });
  const result: unknown[] = [];
  for (const each of steps) {
    step = each;
    [ends, freed] = [[], []];
    await scene.clock.advance(each.atMs - scene.clock.monotonicMs());
    atMs = each.statsAtMs ?? each.atMs;
    node = usageOf(each.node, atMs, config.dedicatedImageFs);
    podStats = each.podStats ?? podStats;
    scene.withdraw(...pods);
    const active = new Set(each.activePods);
    scene.declare(...pods.filter(({ metadata }) => active.has(metadata.name)));
    await manager.look({ ...nothingGiven, stats }, reclaim, signal);
    const isTold = manager.pressures.size > 0;
    const conditions = manager.conditions().filter(({ status }) => status === 'True');
    result.push({
      conditions: conditions.map(({ type }) => type).toSorted(),
      evicted: ends.map(([uid]) => uid).toSorted(),
      graces: ends.map(([, { graceSeconds }]) => graceSeconds),
      freed,
      admitted: isTold ? judged.map((pod) => refusalUnderPressure(pod, manager.pressures) === undefined) : undefined,
    });
  }
  scene.node.engine.close();
  return result;
}

/** What a pod leaves on the node's disks, as it is measured: not what lies in memory. */
function stored({ spec }: Pod, { containers, volumes }: PodUsage): FilesystemStats {
  const onDisk = volumes.filter(({ name }) =>
    spec.volumes?.some((volume) => volume.name === name && volume.emptyDir && !volume.emptyDir.medium),
  );
  const parts = [...containers.flatMap(({ rootfs, logs }) => [rootfs, logs]), ...onDisk];
  return { atMs: 0, usedBytes: parts.reduce((sum, part) => sum + (part?.usedBytes ?? 0), 0) };
}

function usageOf(numbers: NodeNumbers, atMs: number, dedicatedImageFs: boolean): NodeUsage {
  const memory = (available: number | undefined, workingSetBytes = 0): MemoryStats | undefined =>
    available === undefined
      ? undefined
      : { atMs, availableBytes: available, workingSetBytes, usageBytes: 0, rssBytes: 0, pageFaults: 0, majorPageFaults: 0 };
  const fs = (which: 'nodefs' | 'imagefs'): FilesystemStats | undefined => {
    const { [`${which}Available`]: availableBytes, [`${which}Capacity`]: capacityBytes } = numbers;
    const { [`${which}Inodes`]: inodes, [`${which}InodesFree`]: inodesFree } = numbers;
    if (availableBytes === undefined || capacityBytes === undefined || inodes === undefined || inodesFree === undefined) return undefined;
    return { atMs, availableBytes, capacityBytes, inodes, inodesFree };
  };
  const [ofNode, ofPods] = [
    memory(numbers['memoryAvailable'], numbers['memoryWorkingSet']),
    memory(numbers['allocatableMemoryAvailable'], numbers['allocatableMemoryWorkingSet']),
  ];
  const [nodeFs, imageFs] = [fs('nodefs'), fs('imagefs')];
  const { maxPID, numPIDs } = numbers;
  return {
    startedAtMs: 0,
    ...(ofNode && { memory: ofNode }),
    fs: { ...(nodeFs ?? { atMs }), fileSystem: '8:1' },
    imageFs: { ...(imageFs ?? { atMs }), fileSystem: dedicatedImageFs ? '8:2' : '8:1' },
    ...(maxPID !== undefined && numPIDs !== undefined && { pids: { atMs, max: maxPID, running: numPIDs } }),
    systemContainers: ofPods ? [{ id: 'pods' as ContainerId, name: 'pods', startedAtMs: 0, memory: ofPods }] : [],
  };
}
