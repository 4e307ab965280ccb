import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { firstValueFrom } from 'rxjs';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { mountsNow } from '../../src/base/mount-info.ts';
import { seededRandom } from '../../src/base/seeded-random.ts';
import type { Pod } from '../../src/model/pod.ts';
import type { CsiSource } from '../../src/ports/csi-volumes.ts';
import { CSI, CsiNodeUnderTest, csiPod } from '../builders/csi-node.ts';
import { bindBacking } from '../fakes/csi-backings.ts';
import { CsiDriverUnderTest } from '../fakes/csi-driver.ts';

const RUNS = 200;
const PODS = 2;
const STEPS = 5;
/** So many runs at a time: most of each is waiting. */
const LANES = 4;
/** More than the points of one step. */
const POINTS = 24;

/**
 * The process ends at any point between two effects, without a word, while the driver goes on or fails in any way. What comes after finds what is there
 * on the disk alone.
 */
test(
  `an agent that is killed anywhere, ${RUNS} times, loses no volume, leaves none mounted, and mounts none twice`,
  { timeout: 500_000 },
  async () => {
    const seeds = Array.from({ length: RUNS }, (_, i) => i + 1).values();
    const lane = async (): Promise<void> => {
      for (const seed of seeds) await oneRun(seed);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    // Nowhere was left out.
    assert.equal(killedBefore.size, 16, [...killedBefore.keys()].join(', '));
  },
);

/** What is tried again is so at once. */
const impatient: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 1), signal) };

/** Where it was killed. */
const killedBefore = new Map<string, number>();

async function oneRun(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const backingDir = await mkdtemp(join(tmpdir(), 'rxlet-csi-backing-'));
  const node = await CsiNodeUnderTest.make({ clock: impatient });
  const driver = await CsiDriverUnderTest.listen(CSI, { backing: bindBacking(backingDir), capabilities: ['STAGE_UNSTAGE_VOLUME'] });
  const signal = AbortSignal.timeout(60_000);
  const pods = Array.from({ length: PODS }, (_, i) => csiPod(`p${i}`));
  const claims = [
    node.claimed({ accessModes: ['ReadWriteMany'] }),
    node.claimed({ accessModes: ['ReadWriteMany'], csi: { driver: CSI, volumeHandle: 'h2' } }),
  ];
  const device = node.claimed({ accessModes: ['ReadWriteMany'], volumeMode: 'Block', csi: { driver: CSI, volumeHandle: 'h3' } });
  node.driverObject({ volumeLifecycleModes: ['Persistent', 'Ephemeral'] });
  const sources: readonly (readonly [name: string, source: CsiSource])[] = [
    ['pv-1', claims[0] ?? { inline: { driver: CSI } }],
    ['pv-2', claims[1] ?? { inline: { driver: CSI } }],
    ['own', { inline: { driver: CSI } }],
    ['device', device],
  ];
  const wanted = new Map<Pod, boolean>();
  const written = new Map<string, string>();
  let killed = Promise.withResolvers<never>();
  killed.promise.catch(() => {});
  let left = Infinity;
  node.point = async (effect) => {
    if (left-- > 0) return;
    killedBefore.set(effect, (killedBefore.get(effect) ?? 0) + 1);
    killed.reject(new Error('killed'));
    await new Promise(() => {});
  };
  const begin = async (): Promise<void> => {
    await node.restart();
    await node.drivers.register(driver.plugin, signal);
    node.start();
  };
  /** What a pod is to have, it has, with all that was written; what it is not to have, it has not. */
  const settle = async (pod: Pod): Promise<void> => {
    const { uid } = pod.metadata;
    if (wanted.get(pod) !== true) return node.volumes.unpublish(uid, signal);
    for (const [name, source] of sources) {
      const path = await node.volumes.publish(node.task(pod, name, source), signal);
      assert.equal(mountsNow().filter((each) => each.path === path).length, 1, `${name} is mounted once`);
      if (name === 'device') continue;
      const key = name === 'own' ? `${uid} own` : name;
      if (written.has(key)) assert.equal(await readFile(join(path, 'data'), 'utf8'), written.get(key), `${name} has what was written`);
      const text = `${seed} ${uid} ${name} ${left}`;
      await writeFile(join(path, 'data'), text);
      written.set(key, text);
    }
  };
  const fail = (): void => {
    const method = ['NodeStageVolume', 'NodePublishVolume', 'NodeUnpublishVolume', 'NodeUnstageVolume'][below(4)] ?? '';
    const done = random() < 0.5;
    const faults = [
      { is: 'die', done },
      { is: 'error', code: 'Internal', words: 'broken', done },
      { is: 'error', code: 'Aborted', words: 'busy', done },
      { is: 'twice' },
    ] as const;
    const fault = faults[below(faults.length)];
    if (fault) driver.fault(method, fault);
  };
  try {
    await begin();
    for (let step = 0; step < STEPS; step++) {
      const pod = pods[below(PODS)];
      assert.ok(pod);
      // One that has gone is another pod when it comes again.
      if (wanted.get(pod) === true && random() < 0.6) wanted.set(pod, false);
      else if (wanted.get(pod) === undefined || wanted.get(pod) === false) {
        written.delete(`${pod.metadata.uid} own`);
        wanted.set(pod, true);
      }
      if (random() < 0.4) fail();
      if (random() < 0.6) left = below(POINTS);
      const done = await Promise.race([
        settle(pod).then(
          () => true,
          (error: unknown) => error,
        ),
        killed.promise.catch(() => 'killed'),
      ]);
      if (done instanceof assert.AssertionError) throw done;
      if (done !== 'killed' && random() < 0.8) continue;
      left = Infinity;
      killed = Promise.withResolvers<never>();
      killed.promise.catch(() => {});
      await begin();
      if (random() < 0.5) for (const each of pods) await retried(() => settle(each));
    }
    for (const pod of pods) wanted.set(pod, false);
    const end = async (): Promise<void> => {
      for (const pod of pods) await retried(() => settle(pod));
      while (node.known.inUse()?.length !== 0) await firstValueFrom(node.known.changes);
    };
    left = below(POINTS);
    if ((await Promise.race([end(), killed.promise.catch(() => 'killed')])) === 'killed') {
      left = Infinity;
      await begin();
      await end();
    }
    const mounted = mountsNow().filter(({ path }) => path.startsWith(node.rootDir));
    assert.deepEqual(
      mounted.map(({ path }) => path),
      [],
    );
    assert.equal((await readdir(join(node.rootDir, 'plugins/kubernetes.io/csi', CSI)).catch(() => [])).length, 0);
  } catch (error) {
    throw new Error(`run ${seed}`, { cause: error });
  } finally {
    await node[Symbol.asyncDispose]();
    await driver[Symbol.asyncDispose]();
    await rm(backingDir, { recursive: true });
  }
}

/** As the agent tries again what a driver failed at. */
async function retried(work: () => Promise<void>): Promise<void> {
  for (let times = 0; ; times++) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof assert.AssertionError || times > 6) throw error;
    }
  }
}
