import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { Node } from '../../../src/csi/api/csi_pb.js';
import { CsiDrivers } from '../../../src/csi/csi-drivers.ts';
import { CsiCallError } from '../../../src/csi/csi-call-error.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { CsiDriverUnderTest } from '../../fakes/csi-driver.ts';
import { RecordedHappenings } from '../../fakes/recorded-happenings.ts';

const signal = AbortSignal.timeout(20_000);
const someDrivers = (t: TestContext, clock = systemClock): CsiDrivers => {
  const drivers = new CsiDrivers({ clock, random: () => 0, log: silentLogger, tell: new RecordedHappenings().tell });
  t.after(() => drivers.close());
  return drivers;
};
async function aDriver(t: TestContext, name?: string): Promise<CsiDriverUnderTest> {
  const driver = await CsiDriverUnderTest.listen(name, { capabilities: ['STAGE_UNSTAGE_VOLUME'] });
  t.after(() => driver[Symbol.asyncDispose]());
  return driver;
}

test('a driver that registers is asked for its node and what it can; one that is gone is not found, in the words of the kubelet', async (t) => {
  const drivers = someDrivers(t);
  const fake = await aDriver(t);
  fake.info.maxVolumesPerNode = 1n << 40n;
  const missing = { message: 'driver name csi.example.com not found in the list of registered CSI drivers' };
  assert.throws(() => drivers.get(fake.name), missing);
  await drivers.register(fake.plugin, signal);
  const driver = drivers.get('CSI.example.com');
  assert.deepEqual(driver.info, { nodeId: 'id-of-n1', maxVolumes: 2 ** 31 - 1, topology: {} });
  assert.deepEqual([driver.can('STAGE_UNSTAGE_VOLUME'), driver.can('EXPAND_VOLUME')], [true, false]);
  // Once more, as a plugin that was started again.
  await drivers.register(fake.plugin, signal);
  assert.equal(drivers.list().length, 1);
  await drivers.deregister(fake.plugin);
  await drivers.deregister(fake.plugin);
  assert.throws(() => drivers.get(fake.name), missing);
});

test('a driver that says what cannot be, or nothing, is refused with the reason', async (t) => {
  const drivers = someDrivers(t);
  const fake = await aDriver(t);
  const refused = (message: RegExp): Promise<void> => assert.rejects(drivers.register(fake.plugin, signal), message);
  await assert.rejects(drivers.register({ ...fake.plugin, name: '../../etc' }, signal), /no domain name/);
  await assert.rejects(drivers.register({ ...fake.plugin, versions: ['0.3.0'] }, signal), /is 1\.x/);
  await assert.rejects(drivers.register({ ...fake.plugin, endpoint: '/nowhere/socket' }, signal), /rpc error: code = Unavailable/);
  fake.info.nodeId = '';
  await refused(/names no node_id/);
  fake.info.nodeId = 'i'.repeat(257);
  await refused(/longer than 256 bytes/);
  fake.info.nodeId = 'i';
  fake.info.maxVolumesPerNode = -1n;
  await refused(/less than 0/);
  fake.info.maxVolumesPerNode = 0n;
  fake.info.accessibleTopology = {
    $typeName: 'csi.v1.Topology',
    segments: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, 'v'])),
  };
  await refused(/more than 64 topology segments/);
  for (const [key, value, message] of [
    ['no label', 'v', /topology segment "no label"/],
    ['k'.repeat(100_000), 'v', /topology segment "k{1,300}"/],
    ['zone', 'v'.repeat(64), /topology segment "zone": "v{1,300}" .*63/],
  ] as const) {
    fake.info.accessibleTopology = { $typeName: 'csi.v1.Topology', segments: { [key]: value } };
    await refused(message);
  }
  fake.fault(
    'NodeGetInfo',
    { is: 'nonsense' },
    { is: 'twice' },
    { is: 'die' },
    { is: 'error', code: 'Internal', words: 'x'.repeat(5_000) },
  );
  await refused(/code = Internal desc = the server answered with what is no csi/);
  await refused(/more than one message/);
  await refused(/code = Unavailable/);
  await refused(/code = Internal desc = x{1024}…$/);
  assert.deepEqual(drivers.list(), []);
});

test('a driver that hangs as it registers has failed after some seconds', async (t) => {
  const clock = new FakeClock();
  const drivers = someDrivers(t, clock);
  const fake = await aDriver(t);
  fake.fault('NodeGetInfo', { is: 'hang' });
  const asked = new Promise<void>((resolve) => fake.server.calls.subscribe(() => resolve()));
  const refused = assert.rejects(drivers.register(fake.plugin, signal), /code = DeadlineExceeded/);
  await asked;
  await clock.advance(4_000);
  await refused;
});

test('of a call that was given up on nobody knows; one that was refused has not been done', async (t) => {
  const drivers = someDrivers(t);
  const fake = await aDriver(t);
  await drivers.register(fake.plugin, signal);
  const failing = async (): Promise<boolean | undefined> => {
    const call = drivers.get(fake.name).call(Node.method.nodePublishVolume, {}, signal);
    const error: unknown = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof CsiCallError ? error.isUncertain : undefined;
  };
  for (const [code, isUncertain] of [
    ['Internal', true],
    ['InvalidArgument', false],
    ['Aborted', true],
    ['Unavailable', true],
    ['DeadlineExceeded', true],
    ['ResourceExhausted', true],
  ] as const) {
    fake.fault('NodePublishVolume', { is: 'error', code, words: 'no' });
    assert.equal(await failing(), isUncertain, code);
  }
  fake.fault('NodePublishVolume', { is: 'die' });
  assert.equal(await failing(), true);
});

test('an answer that is larger than any has to be ends its call alone', async (t) => {
  const drivers = someDrivers(t);
  const fake = await aDriver(t);
  await drivers.register(fake.plugin, signal);
  fake.server.on(Node.method.nodeGetVolumeStats, (call) => {
    // Of messages of two bytes each, that would be a hundred times as large once it was read.
    const length = (256 << 10) + 1;
    const frame = Buffer.alloc(5 + length);
    frame.writeUInt32BE(length, 1);
    call.sendBytes(frame);
    call.end();
  });
  const driver = drivers.get(fake.name);
  await assert.rejects(driver.call(Node.method.nodeGetVolumeStats, {}, signal), /code = ResourceExhausted/);
  await driver.call(Node.method.nodePublishVolume, {}, signal);
});

test('no more than 128 drivers are taken, and one that is known is taken again', async (t) => {
  const drivers = someDrivers(t);
  const fake = await aDriver(t);
  for (let i = 0; i < 128; i++) await drivers.register({ ...fake.plugin, name: `d${i}` }, signal);
  await assert.rejects(drivers.register(fake.plugin, signal), /the node has 128 CSI drivers/);
  await drivers.register({ ...fake.plugin, name: 'd7' }, signal);
  await assert.rejects(drivers.register({ ...fake.plugin, name: 'D7' }, signal), /CSI driver d7 .*D7 differs in case alone/);
  assert.equal(drivers.get('d7').name, 'd7');
});
