import assert from 'node:assert/strict';
import { readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Container, Pod } from '../../../src/model/pod.ts';
import type { ContainerId, SandboxId } from '../../../src/ports/container-runtime.ts';
import { DockerPods } from '../../builders/docker-pods.ts';
import { dockerUnderTest } from '../../builders/docker-under-test.ts';

describe('termination messages', () => {
  let pods: DockerPods;
  beforeEach(async () => {
    pods = new DockerPods(await dockerUnderTest());
  });
  afterEach(() => pods.clean());

  const shell = (script: string, over: Partial<Container> = {}): Container =>
    pods.container('app', {
      command: ['sh', '-c', script],
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      ...over,
    });
  const run = async (container: Container, attempt = 0): Promise<{ pod: Pod; sandbox: SandboxId; id: ContainerId }> => {
    const pod = pods.pod([container]);
    const sandbox = await pods.runSandbox(pod);
    return { pod, sandbox, id: await pods.start(pod, sandbox, container, { attempt }) };
  };
  const fileOf = async (id: ContainerId): Promise<string> => {
    const mount = (await pods.inspect(id)).Mounts.find(({ Destination }) => Destination === '/dev/termination-log');
    assert.ok(mount);
    return mount.Source;
  };
  const ended = async (pod: Pod, id: ContainerId): Promise<string> => {
    // An end of its own is awaited; the grace period only bounds a test that has failed.
    await pods.docker.client.call('wait', 60_000, pods.signal, (docker) => docker.getContainer(id).wait());
    const { containers } = await pods.docker.runtime.observePod(pod.metadata.uid, pods.signal);
    const state = containers.find((one) => one.id === id)?.state;
    assert.ok(state?.phase === 'exited', JSON.stringify(state));
    return state.message;
  };

  const numbers = (from: number, to: number): string => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}\n`).join('');
  for (const [what, container, expected] of [
    ['what it has written, whoever it runs as', { script: 'printf bye >/dev/termination-log', user: 65534 }, 'bye'],
    ['the last 4 KiB', { script: 'for i in $(seq 1000); do printf abcdefgh; done >/dev/termination-log; exit 1' }, 'abcdefgh'.repeat(512)],
    ['at a path of its own', { script: 'printf own >/tmp/last-words', path: '/tmp/last-words' }, 'own'],
    ['nothing without a path', { script: 'echo lost; exit 1', path: '' }, ''],
    ['no log where that is not asked for', { script: 'echo lost; exit 1' }, ''],
    ['no log after a success', { script: 'echo fine', policy: 'FallbackToLogsOnError' }, ''],
    ['the file before the log', { script: 'echo log; printf file >/dev/termination-log; exit 1', policy: 'FallbackToLogsOnError' }, 'file'],
    ['the last 80 lines of the log', { script: 'seq 100; exit 1', policy: 'FallbackToLogsOnError' }, numbers(21, 100)],
    [
      'of those the last 2 KiB',
      { script: 'for i in $(seq 400); do printf 01234567; done; exit 1', policy: 'FallbackToLogsOnError' },
      '01234567'.repeat(256),
    ],
  ] as const)
    test(`a container that has ended tells ${what}`, async () => {
      const over: { script: string; user?: number; path?: string; policy?: string } = container;
      const { pod, id } = await run(
        shell(over.script, {
          ...(over.user !== undefined && { securityContext: { runAsUser: over.user } }),
          ...(over.path !== undefined && { terminationMessagePath: over.path }),
          ...(over.policy !== undefined && { terminationMessagePolicy: over.policy }),
        }),
      );
      assert.equal(await ended(pod, id), expected);
      assert.equal(await ended(pod, id), expected, 'the second look says the same');
    });

  test('the file belongs to one attempt, lies in the directory of the pod and goes with its container', async () => {
    const container = shell('printf 0 >/dev/termination-log');
    const { pod, sandbox, id } = await run(container);
    assert.equal(await ended(pod, id), '0');
    const again = await pods.start(pod, sandbox, shell('printf 1 >/dev/termination-log'), { attempt: 1 });
    assert.equal(await ended(pod, again), '1');
    const path = await fileOf(id);
    const directory = dirname(path);
    assert.match(path, new RegExp(`/root/pods/${pod.metadata.uid}/containers/app/[0-9a-f]{8}$`));
    assert.equal((await stat(path)).mode & 0o777, 0o666);
    assert.equal((await readdir(directory)).length, 2);
    await pods.docker.runtime.removeContainer(id, pods.signal);
    assert.equal((await readdir(directory)).length, 1);
    await pods.docker.runtime.removeSandbox(sandbox, pods.signal);
    assert.deepEqual(await readdir(directory), []);
  });

  test('what a container of the same name has left is not the message of the one that replaces it', async () => {
    const { pod, sandbox, id } = await run(shell('printf first >/dev/termination-log'));
    assert.equal(await ended(pod, id), 'first');
    const second = await pods.start(pod, sandbox, shell('exit 2'));
    assert.notEqual(second, id);
    assert.equal(await ended(pod, second), '');
  });

  test('a container that cannot start keeps the words of the engine', async () => {
    const container = shell('', { command: ['/nonexistent'], terminationMessagePolicy: 'FallbackToLogsOnError' });
    const pod = pods.pod([container]);
    const sandbox = await pods.runSandbox(pod);
    await assert.rejects(pods.start(pod, sandbox, container));
    const [seen] = (await pods.docker.runtime.observePod(pod.metadata.uid, pods.signal)).containers;
    assert.ok(seen?.state.phase === 'exited');
    assert.match(seen.state.message, /no such file or directory/);
  });

  test('a file that has become a link is not followed', async () => {
    const { pod, id } = await run(shell('trap "exit 3" TERM; sleep 1000 & wait'));
    const path = await fileOf(id);
    const secret = join(dirname(path), 'secret');
    await writeFile(secret, 'never told');
    await rename(path, `${path}.moved`);
    await symlink(secret, path);
    await pods.docker.runtime.stopContainer(id, 0, pods.signal);
    const message = await ended(pod, id);
    assert.match(message, /^Error on reading termination log .*ELOOP/);
    assert.equal(await readFile(secret, 'utf8'), 'never told');
    await rm(`${path}.moved`);
  });
});
