import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { BehaviorSubject, filter, merge, startWith, Subject } from 'rxjs';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { firstOf } from '../../src/base/first-of.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { mountsNow } from '../../src/base/mount-info.ts';
import { seededRandom } from '../../src/base/seeded-random.ts';
import type { Pod } from '../../src/model/pod.ts';
import { Attachments } from '../../src/volumes/attachments.ts';
import { openDisks } from '../../src/volumes/disks/open-disks.ts';
import { flexDrivers } from '../../src/volumes/flex-drivers.ts';
import { type Mounts, systemMounts } from '../../src/volumes/mounts.ts';
import type { PodVolumes } from '../../src/volumes/pod-volumes.ts';
import { aContainer, aPod } from '../builders/a-pod.ts';
import { podVolumesOn } from '../builders/pod-volumes-on.ts';
import { IscsiMachine } from '../fakes/iscsi-machine.ts';

const execute = promisify(execFile);
const RUNS = 8;
const STEPS = 5;
/** More than the points of one step. */
const POINTS = 28;
const IQN = 'iqn.2001-04.com.example:disk';

/** What is tried again is so at once. */
const impatient: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 1), signal) };
const mounts = systemMounts({ clock: systemClock });

/** Two pods share a disk with a file system and one as a device, of a target that has two portals, and both again of the machine's own. */
const volumes: NonNullable<Pod['spec']['volumes']> = [
  { name: 'd', iscsi: { targetPortal: '10.0.0.1', portals: ['10.0.0.2'], iqn: IQN, lun: 0, iscsiInterface: 'default' } },
  { name: 'b', persistentVolumeClaim: { claimName: 'b' } },
  { name: 'l', persistentVolumeClaim: { claimName: 'l' } },
  { name: 'm', persistentVolumeClaim: { claimName: 'm' } },
];
const podNamed = (name: string): Pod =>
  aPod(name, {
    volumes,
    securityContext: { fsGroup: 4321 },
    containers: [
      aContainer('app', {
        volumeMounts: ['d', 'l'].map((name) => ({ name, mountPath: `/${name}` })),
        volumeDevices: ['b', 'm'].map((name) => ({ name, devicePath: `/dev/${name}` })),
      }),
    ],
  });

/** The process ends at any point between two effects, without a word. What comes after finds what is there on the disk and in the mount table alone. */
test(
  `an agent that is killed anywhere, ${RUNS} times, loses no disk, leaves none attached, and mounts none twice`,
  { timeout: 300_000 },
  async () => {
    for (let seed = 1; seed <= RUNS; seed++) await oneRun(seed);
    // Of 15 points, each of four disks, in many places.
    assert.ok(killedBefore.size > 4, [...killedBefore].join(', '));
  },
);

/** Where it was killed. */
const killedBefore = new Set<string>();

async function oneRun(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const signal = AbortSignal.timeout(60_000);
  const rootDir = await mkdtemp(join(tmpdir(), 'rxlet-disks-'));
  const machine = await IscsiMachine.make({ luns: [0, 1], isLoop: true });
  machine.targets = [IQN];
  const locals = new Map<string, string>();
  for (const name of ['l', 'm']) {
    const file = join(rootDir, `${name}.disk`);
    await writeFile(file, Buffer.alloc(8 << 20));
    locals.set(name, (await execute('losetup', ['--find', '--show', file])).stdout.trim());
  }
  const operated = new Subject<void>();
  let killed = Promise.withResolvers<never>();
  let left = Infinity;
  let current = new AbortController();
  let agent: { readonly volumes: PodVolumes; readonly attachments: Attachments };
  const begin = async (): Promise<void> => {
    current.abort(new Error('killed'));
    const stop = new AbortController();
    current = stop;
    left = Infinity;
    killed = Promise.withResolvers<never>();
    killed.promise.catch(() => {});
    const point = async (effect: string): Promise<void> => {
      // Of a process that was killed nothing goes on.
      if (current !== stop) await new Promise(() => {});
      if (left-- > 0) return;
      killedBefore.add(effect);
      killed.reject(new Error('killed'));
      await new Promise(() => {});
    };
    // There are many more of these than of all others.
    machine.before = async () => (random() < 0.2 || current !== stop ? point('a program') : undefined);
    const roots = {
      ...machine.roots,
      run: (...call: Parameters<typeof machine.roots.run>) =>
        current === stop ? machine.roots.run(...call) : new Promise<never>(() => {}),
    };
    const own = new Proxy(mounts, {
      get: (all, name: keyof Mounts) => (current === stop ? all[name].bind(all) : () => new Promise(() => {})),
    });
    const attachments = new Attachments({
      cluster: { exists: false, node: () => undefined, nodeChanges: new BehaviorSubject(undefined) },
      byController: true,
      clock: impatient,
    });
    const disks = await openDisks({
      nodeName: 'n1',
      flex: flexDrivers('/nowhere', systemClock),
      rootDir,
      roots,
      mounts: own,
      attachments,
      clock: impatient,
      log: silentLogger,
      tell: { storageOperated: () => operated.next() },
      before: point,
    });
    void disks.run(stop.signal);
    const podsVolumes = podVolumesOn(
      { rootDir, mounts: own, disks },
      {
        claims: {
          claim: async (_, name) => ({ metadata: { uid: 'c' }, spec: { volumeName: name }, status: { phase: 'Bound' } }),
          volume: async (name) => {
            const path = locals.get(name);
            const iscsi = { targetPortal: '10.0.0.1', portals: ['10.0.0.2'], iqn: IQN, lun: 1 };
            const source = path === undefined ? { iscsi } : { local: { path } };
            return { metadata: { name }, spec: { claimRef: { uid: 'c' }, ...(name !== 'l' && { volumeMode: 'Block' }), ...source } };
          },
        },
      },
    );
    agent = { volumes: podsVolumes, attachments };
  };
  const pods = [podNamed('p0'), podNamed('p1')];
  const wanted = new Set<Pod>();
  const written = new Map<string, string>();
  /** A pod has what was written, or has nothing. */
  const settle = async (pod: Pod): Promise<void> => {
    const { uid } = pod.metadata;
    if (!wanted.has(pod)) return agent.volumes.remove(uid, signal);
    await agent.volumes.prepare(pod, signal);
    for (const place of ['iscsi/d', 'local-volume/l']) {
      const path = join(rootDir, 'pods', uid, `volumes/kubernetes.io~${place}`);
      assert.equal(mountsNow().filter((each) => each.path === path).length, 1, 'it is mounted once');
      const before = written.get(place);
      if (before !== undefined) assert.equal(await readFile(join(path, 'data'), 'utf8'), before, 'it has what was written');
      const data = `${seed} ${uid} ${left}`;
      written.set(place, data);
      await writeFile(join(path, 'data'), data);
    }
    const devices = agent.volumes.devicesFor(pod, pod.spec.containers[0] ?? aContainer('app'));
    assert.deepEqual(
      devices.map(({ hostPath }) => existsSync(hostPath)),
      [true, true],
      'it has its devices',
    );
  };
  const end = async (): Promise<void> => {
    wanted.clear();
    for (const pod of pods) await settle(pod);
    const above = ['iscsi', 'iscsi/volumeDevices', 'local-volume/mounts', '../kubernetes.io~local-volume/volumeDevices'];
    const isLeft = (): boolean =>
      above
        .map((each) => join(rootDir, 'plugins/kubernetes.io', each))
        .some((each) => existsSync(each) && readdirSync(each).some((name) => name !== 'volumeDevices'));
    await firstOf(
      merge(agent.attachments.changes, operated).pipe(
        startWith(undefined),
        filter(() => !isLeft()),
      ),
      signal,
    );
  };
  /** Resolves with whether it was killed meanwhile. */
  const mortal = async (work: () => Promise<void>): Promise<boolean> =>
    Promise.race([work().then(() => false), killed.promise.catch(() => true)]);
  try {
    await begin();
    for (let step = 0; step < STEPS; step++) {
      const pod = pods[below(pods.length)];
      assert.ok(pod);
      if (wanted.has(pod)) wanted.delete(pod);
      else wanted.add(pod);
      if (random() < 0.7) left = below(POINTS);
      if (!(await mortal(() => settle(pod))) && random() < 0.5) continue;
      await begin();
      if (random() < 0.5) for (const each of pods) await settle(each);
    }
    left = below(POINTS);
    if (await mortal(end)) {
      await begin();
      await end();
    }
    assert.deepEqual(
      mountsNow().filter(({ path }) => path.startsWith(rootDir)),
      [],
    );
    assert.deepEqual([machine.lost, [...machine.sessions.values()], await readdir(join(rootDir, 'pods')).catch(() => [])], [[], [], []]);
  } catch (error) {
    throw new Error(`run ${seed}`, { cause: error });
  } finally {
    current.abort(new Error('killed'));
    await mounts.unmountBelow(rootDir);
    for (const loop of locals.values()) await execute('losetup', ['--detach', loop]);
    await machine[Symbol.asyncDispose]();
    await rm(rootDir, { recursive: true });
  }
}
