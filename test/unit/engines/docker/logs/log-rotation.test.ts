import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logConfig, logRotationNote } from '../../../../../src/engines/docker/logs/log-rotation.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../../fakes/recording-logger.ts';
import { nothingGiven, runServices } from '../../../../builders/node-parts.ts';

const policy = { maxSizeBytes: 10_485_760, maxFiles: 5 };

test('an engine that writes files is asked to rotate them, another and one without a policy is left alone', () => {
  const asked = { 'max-size': '10485760', 'max-file': '5', compress: 'false' };
  assert.deepEqual(logConfig('json-file', policy), { Type: 'json-file', Config: asked });
  assert.deepEqual(logConfig('local', policy), { Type: 'local', Config: asked });
  for (const driver of ['journald', 'syslog', 'none', '']) assert.equal(logConfig(driver, policy), undefined);
  assert.equal(logConfig('json-file', undefined), undefined);
  assert.equal(logConfig('json-file', { maxSizeBytes: 0, maxFiles: 2 })?.Config['max-size'], '1');
});

for (const [loggingDriver, of, said] of [
  ['json-file', policy, 'container logs are rotated by the engine; a container that was made before keeps its settings'],
  ['journald', policy, "container logs are kept by the engine's logging driver, which has no files to rotate"],
  ['json-file', undefined, "container logs are rotated as the engine's own settings say: containerLogMaxSize is negative"],
] as const)
  test(`who rotates is said once, as soon as the engine answers: ${loggingDriver}, ${of ? 'with' : 'without'} a policy`, async () => {
    const clock = new FakeClock();
    const log = new RecordingLogger();
    let asks = 0;
    const features = {
      now: async () => {
        if (++asks === 1) throw new Error('no engine');
        return {
          loggingDriver,
          asksForOneMount: false,
          rootless: false,
          cdi: false,
          handlers: [],
          supplementalGroupsPolicy: true,
          imageVolumes: 'never' as const,
        };
      },
    };
    const services = runServices([logRotationNote({ features, policy: of, clock, log })], nothingGiven);
    await clock.advance(60_000);
    assert.deepEqual([log.lines.map(({ message }) => message), asks], [[said], 2]);
    await services.stop();
  });
