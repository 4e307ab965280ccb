import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { dockerAccess } from '../../../src/engines/docker/access/docker-access.ts';
import { engineLogs } from '../../../src/engines/docker/logs/engine-logs.ts';
import type { LogOptions, LogPiece } from '../../../src/ports/container-access.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import { logUsage } from '../../../src/stats/log-usage.ts';
import { DockerPods } from '../../builders/docker-pods.ts';
import { dockerUnderTest } from '../../builders/docker-under-test.ts';

const ALL: LogOptions = { follow: false, timestamps: false };
/** About 2 MB as the engine writes them: 20 files. */
const LINES = 20_000;
const MAX_SIZE = 100_000;

const numbers = (from: number, to: number): readonly number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** The numbers that a container has counted; `last`: it is left there. */
async function counted(pieces: AsyncIterable<LogPiece>, last?: number): Promise<readonly number[]> {
  const seen: number[] = [];
  let rest = '';
  for await (const { bytes } of pieces) {
    const lines = `${rest}${Buffer.from(bytes).toString()}`.split('\n');
    rest = lines.pop() ?? '';
    seen.push(...lines.map(Number));
    if (seen.at(-1) === last) break;
  }
  return seen;
}

describe('a log that the engine rotates as the agent has asked for', () => {
  let pods: DockerPods;
  let access: ReturnType<typeof dockerAccess>;

  const setUp = async (maxFiles: number): Promise<void> => {
    pods = new DockerPods(await dockerUnderTest({ logPolicy: { maxSizeBytes: MAX_SIZE, maxFiles } }));
    access = dockerAccess({ client: pods.docker.client, clock: systemClock });
  };
  const run = async (script: string): Promise<ContainerId> => {
    const app = pods.container('app', { command: ['sh', '-c', script] });
    const pod = pods.pod([app]);
    return pods.start(pod, await pods.runSandbox(pod), app);
  };
  const ended = async (id: ContainerId): Promise<void> => {
    await pods.docker.client.call(`POST /containers/${id}/wait`, 60_000, pods.signal, (docker) => docker.getContainer(id).wait());
  };
  afterEach(async () => {
    access.close();
    await pods.clean();
  });

  test('is followed, and read afterwards, without a line lost or repeated', async () => {
    await setUp(100);
    const id = await run(`seq 1 ${LINES}; exec sleep 1000`);
    const { HostConfig } = await pods.inspect(id);
    assert.deepEqual(HostConfig.LogConfig, { Type: 'json-file', Config: { 'max-size': '100000', 'max-file': '100', compress: 'false' } });
    const followed = await counted(access.logs(id, { ...ALL, follow: true }, pods.signal), LINES);
    assert.deepEqual(followed, numbers(1, LINES));
    assert.deepEqual(await counted(access.logs(id, ALL, pods.signal)), followed);
    for (const tailLines of [10, 3000]) {
      assert.deepEqual(await counted(access.logs(id, { ...ALL, tailLines }, pods.signal)), numbers(LINES - tailLines + 1, LINES));
    }
    assert.deepEqual(await counted(engineLogs(pods.docker.client, id, false, ALL, pods.signal)), followed);
    await pods.docker.runtime.stopContainer(id, 0, pods.signal);
    assert.deepEqual(await counted(access.logs(id, ALL, pods.signal)), followed, 'of what has ended, as logs --previous asks for it');
  });

  test('takes no more than its files may, and what they take is counted', async () => {
    await setUp(3);
    const id = await run(`seq 1 ${LINES}`);
    await ended(id);
    const { LogPath } = await pods.inspect(id);
    const files = (await readdir(dirname(LogPath))).filter((name) => name.includes('-json.log'));
    assert.equal(files.length, 3);
    const { bytes = 0 } = (await logUsage(LogPath)) ?? {};
    assert.ok(bytes > 2 * MAX_SIZE && bytes < 4 * MAX_SIZE, String(bytes));
    const seen = await counted(access.logs(id, ALL, pods.signal));
    assert.deepEqual(seen, numbers(LINES - seen.length + 1, LINES), 'the last lines, all of them');
    assert.ok(seen.length > 2000, String(seen.length));
  });
});
