import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rootlessLimits } from '../../../../../src/engines/docker/observe/rootless-limits.ts';
import { rootlessNote } from '../../../../../src/engines/docker/observe/rootless-note.ts';
import { nothingGiven, runServices } from '../../../../builders/node-parts.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../../fakes/recording-logger.ts';

const cgroups = { driver: 'cgroupfs', version: 2 } as const;
const features = {
  asksForOneMount: false,
  cdi: false,
  loggingDriver: 'k8s-file',
  handlers: [],
  supplementalGroupsPolicy: true,
  imageVolumes: 'never' as const,
  cgroups,
};

test('what an ordinary user goes without depends on what he may do: mount, limit, publish, connect', () => {
  const begins = (machine: Parameters<typeof rootlessLimits>[0]): readonly string[] =>
    rootlessLimits(machine).map(({ cannot }) => cannot.split(' ')[0] ?? '');
  const least = { agentIsRoot: true, cgroups, firstOpenPort: 0, reachesPods: true };
  assert.deepEqual(begins(least), []);
  assert.deepEqual(begins({ ...least, agentIsRoot: false }), ['mount', 'give']);
  assert.deepEqual(begins({ ...least, cgroups: undefined }), ['hold']);
  assert.deepEqual(begins({ ...least, cgroups: { driver: 'cgroupfs', version: 1 } }), ['hold']);
  assert.deepEqual(begins({ ...least, firstOpenPort: 1024 }), ['publish']);
  assert.deepEqual(begins({ ...least, reachesPods: false }), ['connect']);
});

for (const [rootless, agentIsRoot, message, lines] of [
  [true, true, 'the engine runs without root', 2],
  [true, false, 'the engine runs without root', 4],
  [false, true, '', 0],
  [false, false, 'the agent runs without root', 2],
] as const)
  test(`it is said once, as soon as the engine answers, one line each, where that is rootless: ${rootless}, and the agent is root: ${agentIsRoot}`, async () => {
    const clock = new FakeClock();
    const log = new RecordingLogger();
    let asks = 0;
    const services = runServices(
      [
        rootlessNote({
          features: {
            now: async () => {
              if (++asks === 1) throw new Error('no engine');
              return { ...features, rootless };
            },
          },
          machine: async () => ({ agentIsRoot, firstOpenPort: 80, reachesPods: false }),
          clock,
          log,
        }),
      ],
      nothingGiven,
    );
    await clock.advance(60_000);
    assert.deepEqual([asks, log.lines.map(({ message: said }) => said)], [2, Array.from({ length: lines }, () => message)]);
    await services.stop();
  });
