import assert from 'node:assert/strict';
import { aPodThat, server } from '../../builders/pods-that.ts';
import { scenario } from '../../fakes/scenario.ts';

scenario('volumes that cannot be brought up to date are told with the look at the pod, and tried again when it makes sense', async (it) => {
  const pod = aPodThat('web', { containers: [server('app')] });
  it.declare(pod);
  await it.advance(5_000);
  const [started] = it.times('started', 'web/app');
  let retryInMs = 1_000;
  const message = 'MountVolume.SetUp failed for volume "s" : secret "login" not found';
  it.volumes = () => ({ message, retryInMs });
  const before = it.records.length;
  await it.advance(61_000);
  const told = it.records.slice(before);
  assert.deepEqual(told.at(-1)?.plan.because, ['pod is as declared', `prepare not up to date: ${message}`]);
  assert.deepEqual(told.at(-1)?.next, { afterMs: 1_000 });
  assert.ok(told.length > 1, 'it is tried again');
  retryInMs = 1e9;
  await it.advance(1_000);
  const last = it.records.at(-1);
  assert.ok(
    last && last.next !== 'on-change' && last.next !== 'back-off' && last.next.afterMs < 100_000,
    'and at the latest with the next resync',
  );
  it.volumes = () => undefined;
  await it.advance(100_000);
  assert.deepEqual(it.records.at(-1)?.plan.because, ['pod is as declared']);
  assert.deepEqual([it.times('started', 'web/app'), it.running()], [[started], ['web/POD', 'web/app']]);
});

scenario(
  'a volume that cannot be prepared for a pod that runs is a failure that is told and tried again, and the pod runs on',
  async (it) => {
    const pod = aPodThat('web', { containers: [server('app')] });
    it.declare(pod);
    await it.advance(5_000);
    it.volumes = () => {
      throw new Error('MountVolume.SetUp failed for volume "s" : disk is full');
    };
    await it.advance(61_000);
    const failures = it.records.filter(({ failed }) => failed === 'MountVolume.SetUp failed for volume "s" : disk is full');
    assert.ok(failures.length > 1);
    assert.deepEqual(new Set(failures.map(({ next }) => next)), new Set(['back-off']));
    it.volumes = () => undefined;
    await it.advance(61_000);
    assert.equal(it.records.at(-1)?.failed, undefined);
    assert.deepEqual([it.times('started', 'web/app').length, it.running()], [1, ['web/POD', 'web/app']]);
  },
);
