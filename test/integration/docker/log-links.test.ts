import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Pod } from '../../../src/model/pod.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import { DockerPods } from '../../builders/docker-pods.ts';
import { dockerUnderTest } from '../../builders/docker-under-test.ts';

describe('links to container logs', () => {
  let pods: DockerPods;
  let podLog: (pod: Pod, rest: string) => string;
  let legacy: (pod: Pod, id: ContainerId) => string;
  beforeEach(async () => {
    pods = new DockerPods(await dockerUnderTest());
    const { podLogsDir, containerLogsDir } = pods.docker;
    podLog = ({ metadata }, rest) => join(podLogsDir, `default_${metadata.name}_${metadata.uid}`, rest);
    legacy = ({ metadata }, id) => join(containerLogsDir, `${metadata.name}_default_app-${id}.log`);
  });
  afterEach(() => pods.clean());

  test('lead to what the container wrote', async () => {
    const app = pods.container('app', { command: ['sh', '-c', 'echo hello; exec sleep 1000'] });
    const pod = pods.pod([app]);
    const sandbox = await pods.runSandbox(pod);
    const id = await pods.start(pod, sandbox, app, { attempt: 5 });
    const { LogPath } = await pods.inspect(id);
    assert.equal(await readlink(podLog(pod, 'app/5.log')), LogPath);
    assert.equal(await readlink(legacy(pod, id)), podLog(pod, 'app/5.log'));
    await pods.docker.runtime.stopContainer(id, 0, pods.signal);
    assert.match(await readFile(legacy(pod, id), 'utf8'), /"log":"hello\\n"/);
  });

  test('go with their containers, and the directory with the last', async () => {
    const app = pods.container('app');
    const other = pods.container('other');
    const pod = pods.pod([app, other]);
    const sandbox = await pods.runSandbox(pod);
    const id = await pods.start(pod, sandbox, app);
    const otherId = await pods.start(pod, sandbox, other);
    assert.deepEqual((await readdir(podLog(pod, '.'))).sort(), ['app', 'other']);
    await pods.docker.runtime.removeContainer(id, pods.signal);
    assert.deepEqual(await readdir(podLog(pod, '.')), ['other']);
    await pods.docker.runtime.removeContainer(otherId, pods.signal);
    assert.deepEqual([await readdir(pods.docker.podLogsDir), await readdir(pods.docker.containerLogsDir)], [[], []]);
  });

  test('go when the sandbox is removed with all that is in it', async () => {
    const app = pods.container('app');
    const pod = pods.pod([app]);
    const sandbox = await pods.runSandbox(pod);
    const id = await pods.start(pod, sandbox, app);
    await pods.docker.runtime.removeSandbox(sandbox, pods.signal);
    const { sandboxes, containers } = await pods.docker.runtime.observePod(pod.metadata.uid, pods.signal);
    assert.deepEqual([sandboxes, containers], [[], []], id);
    assert.deepEqual([await readdir(pods.docker.podLogsDir), await readdir(pods.docker.containerLogsDir)], [[], []]);
  });

  test('a container runs all the same when its directory is taken by a file', async () => {
    const app = pods.container('app');
    const pod = pods.pod([app]);
    await mkdir(pods.docker.podLogsDir);
    await writeFile(podLog(pod, ''), 'in the way');
    const id = await pods.start(pod, await pods.runSandbox(pod), app);
    assert.equal((await pods.inspect(id)).State.Running, true);
    assert.equal(await readFile(podLog(pod, ''), 'utf8'), 'in the way');
  });
});
