import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { silentLogger } from '../../../../../src/base/logger.ts';
import { RuntimeService } from '../../../../../src/engines/cri/api/runtime_pb.js';
import type { CriMessageOwner } from '../../../../../src/engines/cri/containers/message-owner.ts';
import { LogDirectories } from '../../../../../src/engines/cri/logs/log-directories.ts';
import { removeSandbox, stopSandbox } from '../../../../../src/engines/cri/sandbox/remove-sandbox.ts';
import { SandboxConfigs } from '../../../../../src/engines/cri/sandbox/sandbox-configs.ts';
import { TerminationMessages } from '../../../../../src/engines/common/containers/termination-messages.ts';
import { rpcError, ScriptedCri } from '../../../../fakes/scripted-cri.ts';

const { method } = RuntimeService;
const { signal } = new AbortController();
const labels = { 'io.kubernetes.pod.name': 'web', 'io.kubernetes.pod.namespace': 'default', 'io.kubernetes.pod.uid': 'u1' };
const notFound = (): never => {
  throw rpcError('call', 'NotFound', 'no such thing');
};

/** Sandboxes of one pod, each with a container of its attempt, and the logs of these. */
async function aPodOf(t: TestContext, ...attempts: readonly number[]) {
  const dir = await mkdtemp(join(tmpdir(), 'rxlet-remove-'));
  t.after(() => rm(dir, { recursive: true }));
  const logs = join(dir, 'default_web_u1', 'app');
  await mkdir(logs, { recursive: true });
  for (const attempt of attempts) await writeFile(join(logs, `${attempt}.log`), 'x');
  const sandboxes = new Set(attempts.map((attempt) => `s${attempt}`));
  const containers = new Set(attempts.map((attempt) => `c${attempt}`));
  const container = (id: string) => ({
    id,
    podSandboxId: `s${id.slice(1)}`,
    metadata: { name: 'app', attempt: Number(id.slice(1)) },
    labels: { ...labels, 'io.kubernetes.container.name': 'app' },
  });
  const client = new ScriptedCri()
    .answer(method.podSandboxStatus, ({ podSandboxId: id }) => (sandboxes.has(id) ? { status: { id, labels } } : notFound()))
    .answer(method.containerStatus, ({ containerId: id }) => (containers.has(id) ? { status: container(id) } : notFound()))
    .answer(method.listPodSandbox, () => ({ items: [...sandboxes].map((id) => ({ id, labels })) }))
    .answer(method.listContainers, ({ filter }) => ({
      containers: [...containers].map(container).filter((each) => !filter?.podSandboxId || each.podSandboxId === filter.podSandboxId),
    }))
    .answer(method.removeContainer, ({ containerId }) => (containers.delete(containerId), {}))
    .answer(method.stopPodSandbox, () => notFound())
    .answer(method.removePodSandbox, ({ podSandboxId }) => (sandboxes.delete(podSandboxId), {}));
  const removing = {
    client,
    configs: new SandboxConfigs(client, dir),
    directories: new LogDirectories(dir, join(dir, 'links'), silentLogger),
    messages: new TerminationMessages<CriMessageOwner>(async function* () {}, silentLogger, dir),
  };
  return { client, removing, logs, left: () => [...sandboxes, ...containers] };
}

test('a sandbox goes with its containers and their logs, and what is another sandbox of the pod stays', async (t) => {
  const { removing, logs, left } = await aPodOf(t, 0, 1);
  await removeSandbox(removing, 's0', signal);
  assert.deepEqual(left(), ['s1', 'c1']);
  assert.deepEqual(await readdir(logs), ['1.log']);
});

test('with the last sandbox of a pod goes all that is left of its logs', async (t) => {
  const { removing, logs, left } = await aPodOf(t, 0);
  await writeFile(join(logs, 'forgotten.log'), 'x');
  await removeSandbox(removing, 's0', signal);
  assert.deepEqual(left(), []);
  await assert.rejects(readdir(join(logs, '../..', 'default_web_u1')), { code: 'ENOENT' });
});

test('what is gone is stopped and removed', async (t) => {
  const { removing, client, left } = await aPodOf(t, 0);
  await stopSandbox(client, 's9', signal);
  await removeSandbox(removing, 's9', signal);
  assert.deepEqual(left(), ['s0', 'c0']);
});
