import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { GrpcError } from '../../../src/base/grpc/grpc-error.ts';
import { DeviceHealths, type DeviceReport } from '../../../src/dra/device-health.ts';
import { watchHealth } from '../../../src/dra/watch-health.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const report = (deviceName: string, over: Partial<DeviceReport> = {}): DeviceReport => ({
  poolName: 'n1',
  deviceName,
  health: 'Healthy',
  message: '',
  holdsForMs: undefined,
  ...over,
});
const named = (deviceName: string): { readonly poolName: string; readonly deviceName: string } => ({ poolName: 'n1', deviceName });

describe('health of devices', () => {
  let clock: FakeClock;
  let healths: DeviceHealths;
  const health = (name: string): string => healths.of('gpu.org', named(name)).health;

  beforeEach(() => {
    clock = new FakeClock();
    healths = new DeviceHealths(clock);
  });

  it('is unknown before it is said, and when it was not said again in time', async () => {
    assert.equal(health('a'), 'Unknown');
    const isAnother = healths.report('gpu.org', [report('a'), report('b', { holdsForMs: 60_000 })]);
    assert.deepEqual([isAnother(named('a')), isAnother(named('c'))], [true, false]);
    await clock.advance(30_000);
    assert.deepEqual([health('a'), health('b')], ['Healthy', 'Healthy']);
    await clock.advance(1);
    assert.deepEqual([health('a'), health('b')], ['Unknown', 'Healthy']);
    assert.equal(healths.report('gpu.org', [report('b')])(named('b')), false, 'the same again is no change');
    assert.equal(healths.forget('gpu.org')(named('b')), true);
    assert.equal(health('b'), 'Unknown');
  });

  it('is known of 4096 devices of a driver, with messages of 1024 characters', () => {
    healths.report('gpu.org', [report('first', { message: 'x'.repeat(2000) })]);
    assert.equal(healths.of('gpu.org', named('first')).message, `${'x'.repeat(1021)}...`);
    healths.report(
      'gpu.org',
      Array.from({ length: 1e5 }, (_, index) => report(`${index}`)),
    );
    assert.deepEqual([health('first'), health('4095'), health('4096')], ['Unknown', 'Healthy', 'Unknown']);
  });

  it('is heard once a second, again after it ended, and what fails is reported once', async () => {
    const log = new RecordingLogger();
    const stop = new AbortController();
    let asked = 0;
    let heard = 0;
    let ended = 0;
    async function* reports(): AsyncGenerator<readonly DeviceReport[]> {
      asked++;
      for (let each = 0; each < 10; each++) yield [report('a')];
      throw new GrpcError('NodeWatchResources', { code: 'Unavailable', details: 'gone' });
    }
    const watching = watchHealth({ driver: 'gpu.org', reports, onReport: () => heard++, onEnd: () => ended++, clock, log }, stop.signal);
    await clock.advance(4_999);
    assert.equal(heard, 5);
    await clock.advance(25_001);
    assert.deepEqual([asked, ended, log.lines.length], [3, 2, 2]);
    stop.abort(new Error('stopped'));
    await clock.until(watching);
  });
});
