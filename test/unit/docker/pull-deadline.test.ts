import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { DockerImageService } from '../../../src/docker/docker-image-service.ts';
import { engineClient } from '../../../src/docker/engine-client.ts';
import { scriptedEngine } from '../../fakes/scripted-engine.ts';

for (const [ms, shown] of [
  [0.5, '500µs'],
  [1.5, '1.5ms'],
  [20, '20ms'],
] as const)
  test(`a pull without progress is given up after ${shown}, also where that is no whole number of milliseconds`, async (t) => {
    const engine = await scriptedEngine((_, response) => response.writeHead(200).flushHeaders());
    t.after(() => engine.close());
    const client = engineClient({ endpoint: engine.endpoint, clock: systemClock });
    t.after(() => client.close());
    const images = new DockerImageService({ engine: client, clock: systemClock, log: silentLogger, imagePullProgressDeadlineMs: ms });
    await assert.rejects(
      images.pullImage('busybox', undefined, () => {}, new AbortController().signal),
      {
        message: `Cancel pulling image "busybox" because of no progress for ${shown}, latest progress: "No progress"`,
      },
    );
  });
