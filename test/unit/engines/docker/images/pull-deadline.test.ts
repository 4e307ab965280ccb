import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import { scriptedEngine } from '../../../../fakes/scripted-engine.ts';
import { anEngineClient, dockerImages } from '../../../../builders/docker-parts.ts';

for (const [ms, shown] of [
  [0.5, '500µs'],
  [1.5, '1.5ms'],
  [20, '20ms'],
] as const)
  test(`a pull without progress is given up after ${shown}, also where that is no whole number of milliseconds`, async (t) => {
    const engine = await scriptedEngine((_, response) => response.writeHead(200).flushHeaders());
    t.after(() => engine.close());
    const client = anEngineClient(engine.endpoint, systemClock);
    t.after(() => client.close());
    const images = dockerImages(client, systemClock, { imagePullProgressDeadlineMs: ms });
    await assert.rejects(
      images.pullImage('busybox', undefined, () => {}, new AbortController().signal),
      {
        message: `Cancel pulling image "busybox" because of no progress for ${shown}, latest progress: "No progress"`,
      },
    );
  });
