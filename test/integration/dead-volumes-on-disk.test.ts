import { Verbosity } from '../../src/base/verbosity.ts';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { Pod, PodUid } from '../../src/model/pod.ts';
import type { HostFiles } from '../../src/ports/host-files.ts';
import { podStats } from '../../src/stats/pod-stats.ts';
import { defaultOptions, unchangedConfig } from '../builders/some-options.ts';
import { readCgroupHierarchy } from '../../src/base/cgroup-hierarchy.ts';
import { realSurroundings } from '../../src/surroundings.ts';
import { systemMounts } from '../../src/volumes/mounts.ts';
import { mountTable } from '../../src/volumes/mount-table.ts';
import { checkHostPath } from '../../src/volumes/host-path-volume.ts';
import type { PodVolumes } from '../../src/volumes/pod-volumes.ts';
import { DeadMounts } from '../builders/dead-mounts.ts';
import { aContainer, aPod } from '../builders/a-pod.ts';
import { podVolumesOn } from '../builders/pod-volumes-on.ts';

const VOLUMES = 40;
const signal = AbortSignal.timeout(110_000);
const clock = systemClock;
const askThreadPool = promisify(randomBytes);

for (const hang of ['killable', 'unkillable'] as const) {
  test(`statistics tell of all but the ${VOLUMES} volumes that do not answer (${hang}), and hold no thread`, async (t) => {
    const { rootDir, hostFiles, uid, dead } = await stage(t, hang);
    const [first = ''] = dead.paths;
    await mkdir(join(rootDir, 'pods', uid(0), 'volumes/kubernetes.io~empty-dir/e'), { recursive: true });
    const running = dead.paths.map((_, i) => ({
      uid: uid(i),
      name: `p${i}`,
      namespace: 'default',
      network: 'node' as const,
      containers: [],
    }));
    const stats = podStats({
      clock,
      cgroups: await readCgroupHierarchy(),
      running: { list: async () => running, stale: () => {} },
      pods: { get: () => undefined },
      statuses: { get: () => undefined },
      rootDir,
      imageDir: async () => undefined,
      hostFiles,
    });
    t.after(() => stats.close());
    for (const round of [1, 2, 3]) {
      const pods = await stats.pods(signal);
      assert.deepEqual(
        pods.flatMap(({ volumes }) => volumes.map(({ name }) => name)),
        ['e'],
        `round ${round}`,
      );
      await askThreadPool(1);
    }
    dead.answer(first);
    for (let told: readonly string[] = []; !told.includes('v');) {
      signal.throwIfAborted();
      told = (await stats.pods(signal)).flatMap(({ volumes }) => volumes.map(({ name }) => name));
    }
  });

  test(`pods with ${VOLUMES} volumes that do not answer (${hang}) are removed, and hold up no other`, async (t) => {
    const { rootDir, hostFiles, volumes, uid, dead } = await stage(t, hang);
    // Somebody hangs in each.
    await Promise.all(dead.paths.map((path) => hostFiles.run(checkHostPath, { path, type: 'Directory' }, signal).catch(() => {})));
    const pod = podWith({ emptyDir: {} });
    const [{ removed, failed }] = await Promise.all([
      volumes.sweep(async (each) => each === pod.metadata.uid, signal),
      volumes.prepare(pod, signal).then(() => volumes.remove(pod.metadata.uid, signal)),
    ]);
    assert.deepEqual([...failed], []);
    assert.deepEqual(removed.toSorted(), dead.paths.map((_, i) => uid(i)).toSorted());
    assert.deepEqual(await readdir(join(rootDir, 'pods')), []);
    assert.deepEqual(
      (await mountTable()).filter(({ path }) => path.startsWith(rootDir)),
      [],
    );
    assert.deepEqual(hostFiles.silent().length, 0);
  });

  test(`a part of a volume that does not answer (${hang}) holds only its own container, and is shown when it does`, async (t) => {
    const { rootDir, volumes, dead } = await stage(t, hang);
    const [path = ''] = dead.paths;
    // It answers while the pod is prepared, and not when the part is shown.
    const link = join(rootDir, 'link');
    await symlink(rootDir, link);
    const pod = podWith({ hostPath: { path: link } }, 'part');
    await volumes.prepare(pod, signal);
    await rm(link);
    await symlink(join(path, 'data'), link);
    const shown = (): Promise<unknown> => volumes.mountsFor(pod, pod.spec.containers[0] ?? aContainer('app'), new Map(), signal);
    await assert.rejects(shown(), { reason: 'CreateContainerConfigError', message: /does not answer, since \d{4}-/ });
    dead.answer(path);
    for (let error: unknown = 'none'; error !== undefined;) {
      signal.throwIfAborted();
      error = await shown().then(
        () => undefined,
        (why: unknown) => why,
      );
    }
    await volumes.remove(pod.metadata.uid, signal);
  });
}

test('a link that a container made from its own volume to one that does not answer is refused, and not followed', async (t) => {
  const { rootDir, hostFiles, volumes, dead } = await stage(t, 'unkillable');
  const pod = podWith({ emptyDir: {} }, 'out/part');
  await volumes.prepare(pod, signal);
  await symlink(dead.paths[0] ?? '', join(rootDir, 'pods', pod.metadata.uid, 'volumes/kubernetes.io~empty-dir/v/out'));
  await assert.rejects(volumes.mountsFor(pod, pod.spec.containers[0] ?? aContainer('app'), new Map(), signal), /leads out of the volume/);
  assert.deepEqual(hostFiles.silent(), []);
});

async function stage(t: TestContext, hang: 'killable' | 'unkillable'): Promise<Stage> {
  const rootDir = await mkdtemp(join(tmpdir(), 'rxlet-dead-'));
  const uid = (i: number): PodUid => `dead-${i}` as PodUid;
  const paths = Array.from({ length: VOLUMES }, (_, i) => join(rootDir, 'pods', uid(i), 'volumes/kubernetes.io~nfs/v'));
  const stop = new AbortController();
  const hostFiles = realSurroundings({
    log: silentLogger,
    origins: defaultOptions.origins,
    verbosity: new Verbosity(0),
    config: unchangedConfig,
  }).hostFiles({ clock, log: silentLogger }, stop.signal);
  const dead = await DeadMounts.at(paths, hang);
  t.after(async () => {
    stop.abort(new Error('the test is over'));
    await dead.close();
    await systemMounts({ clock }).unmountBelow(rootDir);
    await rm(rootDir, { recursive: true });
  });
  const volumes = podVolumesOn({
    rootDir,
    clock,
    mounts: systemMounts({ clock, silent: () => hostFiles.silent(), stop: stop.signal }),
    hostFiles,
  });
  return { rootDir, hostFiles, volumes, uid, dead };
}

/** The pod "web", whose container mounts the volume or a part of it. */
function podWith(volume: Omit<NonNullable<Pod['spec']['volumes']>[number], 'name'>, subPath?: string): Pod {
  const volumeMounts = [{ name: 'v', mountPath: '/v', ...(subPath !== undefined && { subPath }) }];
  return aPod('web', { volumes: [{ name: 'v', ...volume }], containers: [aContainer('app', { volumeMounts })] });
}

interface Stage {
  readonly rootDir: string;
  readonly hostFiles: HostFiles;
  readonly volumes: PodVolumes;
  readonly uid: (i: number) => PodUid;
  readonly dead: DeadMounts;
}
