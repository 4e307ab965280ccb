import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ContainerState, RuntimeService } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { LoggingContainers } from '../../../../../src/engines/cri/logs/logging-containers.ts';
import type { ContainerId } from '../../../../../src/ports/container-runtime.ts';
import { rpcError, ScriptedCri } from '../../../../fakes/scripted-cri.ts';

const { method } = RuntimeService;
const signal = new AbortController().signal;
const paths: Readonly<Record<string, string>> = {
  ours: '/var/log/pods/ns_a_u1/app/0.log',
  theirs: '/srv/other/pods/ns_b_u2/app/0.log',
  beside: '/var/log/pods-of-others/0.log',
  silent: '',
};

const aRuntime = (running: () => readonly string[]): ScriptedCri =>
  new ScriptedCri()
    .answer(method.listContainers, () => ({ containers: running().map((id) => ({ id, state: ContainerState.CONTAINER_RUNNING })) }))
    .answer(method.containerStatus, ({ containerId }) => {
      const logPath = paths[containerId];
      if (logPath === undefined) throw rpcError('ContainerStatus', 'NotFound', 'gone');
      return { status: { id: containerId, logPath } };
    })
    .answer(method.reopenContainerLog, () => ({}));

test('those that write below the directory of logs are told, each asked about once', async () => {
  let running = ['ours', 'theirs', 'beside', 'silent', 'gone'];
  const cri = aRuntime(() => running);
  const containers = new LoggingContainers(cri, '/var/log/pods');
  for (const _ of [1, 2]) assert.deepEqual(await containers.list(signal), [{ id: 'ours', logPath: paths['ours'] }]);
  assert.equal(cri.count('ContainerStatus'), 5);
  running = [];
  assert.deepEqual(await containers.list(signal), []);
  running = ['ours'];
  assert.equal((await containers.list(signal)).length, 1);
  assert.equal(cri.count('ContainerStatus'), 6, 'nothing is kept of one that has gone');
});

test('a log is reopened by the runtime', async () => {
  const cri = aRuntime(() => []);
  await new LoggingContainers(cri, '/var/log/pods').reopen('ours' as ContainerId, signal);
  assert.deepEqual(cri.asked, [{ method: 'ReopenContainerLog', input: { containerId: 'ours' } }]);
});
