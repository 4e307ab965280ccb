import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/ports/claim-reader.ts';
import type { ApiRequest } from '../../../src/ports/kube-api.ts';
import { growFileSystem } from '../../../src/volumes/disks/grow-file-system.ts';
import { VolumeGrowth } from '../../../src/volumes/volume-growth.ts';
import { aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const MINUTE = 66_000;

function scene(t: TestContext) {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const world = { wanted: '1Gi', size: '1Gi', has: '1Gi', isBound: true };
  const asked: string[] = [];
  const sent: ApiRequest[] = [];
  const events: string[] = [];
  const faults: Error[] = [];
  const growth = new VolumeGrowth({
    claims: {
      claim: async (namespace, name): Promise<PersistentVolumeClaim> => {
        asked.push(name);
        return {
          metadata: { name, namespace, resourceVersion: '7' },
          spec: { volumeName: world.isBound ? 'pv' : 'other', resources: { requests: { storage: world.wanted } } },
          status: {
            capacity: { storage: world.has },
            conditions: [{ type: 'FileSystemResizePending', status: 'True' }],
            allocatedResourceStatuses: { storage: 'NodeResizePending' },
          },
        };
      },
      volume: async (): Promise<PersistentVolume> => ({ metadata: { name: 'pv' }, spec: { capacity: { storage: world.size } } }),
    },
    api: {
      request: async <T>(request: ApiRequest): Promise<T> => {
        sent.push(request);
        world.has = world.size;
        return {} as T;
      },
    },
    events: { record: (_pod, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
    clock,
    random: () => 0.5,
    log,
  });
  let grown = 0;
  const keep = (name: string): void =>
    growth.keep({
      pod: aPod(name),
      name: 'pv',
      claim: 'data',
      grow: async () => {
        grown++;
        const fault = faults.shift();
        if (fault) throw fault;
      },
    });
  const stop = new AbortController();
  const running = growth.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    assert.equal(clock.actions.length, 0);
  });
  return { clock, log, world, asked, sent, events, faults, growth, keep, grown: () => grown };
}

test('nothing is looked at while no pod has a volume that could grow, and one of two pods once', async (t) => {
  const { clock, asked, growth, keep } = scene(t);
  await clock.advance(10 * MINUTE);
  assert.deepEqual([asked, clock.actions.length], [[], 0]);
  for (const name of ['a', 'b']) keep(name);
  await clock.advance(MINUTE);
  assert.deepEqual(asked, ['data']);
  for (const name of ['a', 'b']) growth.forget(aPod(name).metadata.uid);
  await clock.advance(10 * MINUTE);
  assert.deepEqual([asked, clock.actions.length], [['data'], 0]);
});

test('a volume grows once its claim and itself have, a failure is said once, and the cluster is told', async (t) => {
  const { clock, log, world, sent, events, faults, keep, grown } = scene(t);
  keep('a');
  world.wanted = '2Gi';
  await clock.advance(MINUTE);
  assert.equal(grown(), 0);
  world.size = '2Gi';
  faults.push(new Error('no'), new Error('no'));
  await clock.advance(3 * MINUTE);
  assert.equal(grown(), 3);
  assert.equal(log.lines.length, 1);
  assert.deepEqual(events, [
    'Warning VolumeResizeFailed NodeExpandVolume.NodeExpandVolume failed for volume "pv" : no',
    'Normal FileSystemResizeSuccessful MountVolume.NodeExpandVolume succeeded for volume "pv"',
  ]);
  assert.deepEqual(sent, [
    {
      method: 'PATCH',
      path: '/api/v1/namespaces/default/persistentvolumeclaims/data/status',
      contentType: 'application/merge-patch+json',
      body: {
        metadata: { resourceVersion: '7' },
        status: { capacity: { storage: '2Gi' }, conditions: [], allocatedResourceStatuses: { storage: null } },
      },
    },
  ]);
  await clock.advance(3 * MINUTE);
  assert.equal(grown(), 3);
});

test('of a pod that is gone nothing is held, however long the next one is away', async (t) => {
  const { clock, growth, asked } = scene(t);
  const keepOne = (): WeakRef<object> => {
    const pod = aPod('a');
    growth.keep({ pod, name: 'pv', claim: 'data', grow: async () => {} });
    return new WeakRef(pod);
  };
  const pod = keepOne();
  await clock.advance(MINUTE);
  assert.deepEqual(asked, ['data']);
  growth.forget(aPod('a').metadata.uid);
  await clock.advance(10 * MINUTE);
  await setImmediate();
  collectGarbage();
  assert.equal(pod.deref(), undefined);
});

test('a claim that is of another volume by now makes none larger', async (t) => {
  const { clock, world, keep, grown } = scene(t);
  keep('a');
  Object.assign(world, { wanted: '2Gi', size: '2Gi', isBound: false });
  await clock.advance(MINUTE);
  assert.equal(grown(), 0);
});

test('each file system grows by its own program', async () => {
  const calls: string[] = [];
  const { signal } = new AbortController();
  const grow = (fsType: string, code = 0): Promise<void> =>
    growFileSystem(
      { device: '7:1', source: '/dev/loop1', fsType },
      '/d',
      {
        run: async (program, argv) => {
          calls.push([program, ...argv].join(' '));
          return { code, stdout: '', said: 'no' };
        },
      },
      signal,
    );
  for (const type of ['ext3', 'ext4', 'xfs', 'btrfs']) await grow(type);
  assert.deepEqual(calls, ['resize2fs /dev/loop1', 'resize2fs /dev/loop1', 'xfs_growfs -d /d', 'btrfs filesystem resize max /d']);
  await assert.rejects(grow('ext4', 1), { message: 'resize of device /dev/loop1 failed: exit status 1. resize2fs output: no' });
  await assert.rejects(grow('vfat'), { message: 'resize of format vfat is not supported for device /dev/loop1 mounted at /d' });
});
