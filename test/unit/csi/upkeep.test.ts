import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { CsiCapability, CsiDriver } from '../../../src/csi/csi-driver.ts';
import type { Use } from '../../../src/csi/known-volumes.ts';
import { Upkeep } from '../../../src/csi/upkeep.ts';
import { CsiPaths } from '../../../src/csi/volume-paths.ts';
import { MountStepError } from '../../../src/model/mount-step-error.ts';
import { CSI, csiPod } from '../../builders/csi-node.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

function scene(
  t: TestContext,
  { can = [], requiresRepublish = false }: { readonly can?: readonly CsiCapability[]; readonly requiresRepublish?: boolean } = {},
) {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const pod = csiPod();
  const csi = { driver: CSI, volumeHandle: 'h' };
  const persistent = (storage: string) => ({ metadata: { name: 'pv-1' }, spec: { csi, capacity: { storage } } });
  const claim = (wanted: string, has: string) => ({
    metadata: { name: 'data', namespace: 'default' },
    spec: { resources: { requests: { storage: wanted } } },
    status: { capacity: { storage: has } },
  });
  const world = { persistent: persistent('1Gi'), claim: claim('1Gi', '1Gi') };
  const use: Use = {
    uid: pod.metadata.uid,
    name: 'pv-1',
    paths: new CsiPaths('/root').published(pod.metadata.uid, 'pv-1'),
    data: { driverName: CSI, volumeHandle: 'h' },
    isBlock: false,
    begun: true,
    task: {
      pod,
      name: 'pv-1',
      volume: 'v',
      source: { persistent: world.persistent, claim: world.claim },
      readOnly: false,
      giveToGroup: async () => {},
    },
  };
  const driver: CsiDriver = {
    name: CSI,
    info: { nodeId: 'n', maxVolumes: 0, topology: {} },
    can: (what) => can.includes(what),
    call: () => Promise.reject(new Error('not here')),
    close: () => {},
  };
  const uses: Use[] = [];
  const renewed: string[] = [];
  const read: string[] = [];
  const events: string[] = [];
  const faults: Error[] = [];
  const upkeep = new Upkeep({
    known: { uses: () => uses },
    volumes: {
      renew: async ({ data }, change) => {
        renewed.push(change);
        if (data.driverName === 'hangs') await new Promise(() => {});
        const fault = faults.shift();
        if (fault) throw fault;
      },
    },
    drivers: { find: () => driver },
    objects: {
      driver: async () => {
        read.push('driver');
        return { spec: { requiresRepublish } };
      },
    },
    claims: {
      claim: async () => {
        read.push('claim');
        return world.claim;
      },
      volume: async () => world.persistent,
    },
    events: { record: (_pod, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
    clock,
    random: () => 0.5,
    log,
  });
  const stop = new AbortController();
  const running = upkeep.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    assert.equal(clock.actions.length, 0);
  });
  const grow = (wanted: string, size: string): void => {
    world.claim = claim(wanted, '1Gi');
    world.persistent = persistent(size);
  };
  const add = async (): Promise<void> => {
    uses.push(use);
    upkeep.look();
    await clock.advance(0);
  };
  return { clock, log, uses, use, renewed, read, events, faults, grow, add };
}

test('nothing is looked at while no pod has a volume', async (t) => {
  const { clock, uses, read, add } = scene(t);
  await clock.advance(600_000);
  assert.deepEqual([read, clock.actions.length], [[], 0]);
  await add();
  await clock.advance(70_000);
  assert.deepEqual(read, ['driver']);
  uses.length = 0;
  await clock.advance(600_000);
  assert.deepEqual([read, clock.actions.length], [['driver'], 0]);
});

test('a volume whose driver wants that is published again about each minute; one that cannot be is said once', async (t) => {
  const { clock, log, renewed, faults, add } = scene(t, { requiresRepublish: true });
  await add();
  faults.push(new Error('no'), new Error('no'));
  await clock.advance(66_000 * 3);
  assert.deepEqual(renewed, ['publish', 'publish', 'publish']);
  assert.equal(log.lines.length, 1);
});

test('a claim that has grown is grown when its volume has been, and a failure is told of', async (t) => {
  const { clock, renewed, events, faults, grow, add, use } = scene(t, { can: ['EXPAND_VOLUME'] });
  await add();
  await clock.advance(66_000);
  grow('2Gi', '1Gi');
  await clock.advance(66_000);
  assert.deepEqual(renewed, []);
  grow('2Gi', '2Gi');
  faults.push(new MountStepError('NodeExpandVolume', 'rpc error: code = Internal desc = no'));
  await clock.advance(66_000 * 2);
  assert.deepEqual(renewed, ['grow', 'grow']);
  assert.deepEqual(events, [
    'Warning VolumeResizeFailed NodeExpandVolume.NodeExpandVolume failed for volume "pv-1" : rpc error: code = Internal desc = no',
    'Normal FileSystemResizeSuccessful MountVolume.NodeExpandVolume succeeded for volume "pv-1"',
  ]);
  assert.ok(use.task && 'persistent' in use.task.source);
  assert.equal(use.task.source.persistent.spec?.capacity?.['storage'], '2Gi');
});

test('volumes of a driver that hangs hold up those of no other, and are not asked for again meanwhile', async (t) => {
  const { clock, uses, use, renewed, add } = scene(t, { requiresRepublish: true });
  const paths = new CsiPaths('/root');
  for (let i = 0; i < 20; i++)
    uses.push({ ...use, name: `h-${i}`, paths: paths.published(use.uid, `h-${i}`), data: { driverName: 'hangs', volumeHandle: `${i}` } });
  await add();
  await clock.advance(66_000);
  assert.equal(renewed.length, 8 + 1, 'eight at a time of one driver, and the one of the other');
  await clock.advance(66_000 * 10);
  assert.ok(renewed.length >= 8 + 9 && renewed.length <= 8 + 11, `${renewed.length}`);
});
