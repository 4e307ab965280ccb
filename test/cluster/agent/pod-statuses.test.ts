import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { app, pod } from '../../integration/agent/pod-specs.ts';
import { type ClusterNode, isPodReady, type PodJson } from './cluster-node.ts';
import { sharedNode } from './shared-node.ts';

const [state, lastState] = (['state', 'lastState'] as const).map(
  (which) =>
    ({ status }: PodJson) =>
      status?.containerStatuses?.[0]?.[which],
);

describe('what the API shows of pods', { timeout: 250_000 }, () => {
  const shared = sharedNode();
  let node: ClusterNode;
  before(async () => {
    node = await shared.start();
  });
  after(() => shared.stop());

  for (const [name, script, over, message] of [
    ['file', 'printf "last words" >/dev/termination-log; exit 3', {}, 'last words'],
    ['log', 'echo one; echo two; exit 3', { terminationMessagePolicy: 'FallbackToLogsOnError' }, 'one\ntwo\n'],
    ['silent', 'echo lost; exit 3', {}, undefined],
  ] as const)
    test(`a container that has ended tells its message: ${name}`, async () => {
      await node.create(name, pod([app(script, over)], { restartPolicy: 'Never' }));
      const ended = await node.phase(name, 'Failed');
      const { exitCode, reason, message: told, containerID } = state?.(ended)?.terminated ?? {};
      assert.deepEqual([exitCode, reason, told], [3, 'Error', message]);
      assert.match(containerID ?? '', /^docker:\/\/[0-9a-f]{64}$/);
    });

  test('a container that fails again and again waits with CrashLoopBackOff; what it left stays in lastState', async () => {
    await node.create('crash', pod([app('printf "try again" >/dev/termination-log; exit 1')]));
    const crashed = await node.becomes('crash', 'in a crash loop', (one) => state?.(one)?.waiting?.reason === 'CrashLoopBackOff');
    const { exitCode, message } = lastState?.(crashed)?.terminated ?? {};
    assert.deepEqual([exitCode, message], [1, 'try again']);
    assert.equal(crashed.status?.phase, 'Running');
    await node.kubectl('delete', 'pod', node.called('crash'), '--wait=false');
  });

  test('an image that cannot be pulled is told as ErrImagePull, and then as ImagePullBackOff', async () => {
    const image = '127.0.0.1:1/nobody/serves:1';
    await node.create('pull', pod([app('true', { image })]));
    const backsOff = await node.becomes('pull', 'backing off', (one) => state?.(one)?.waiting?.reason === 'ImagePullBackOff');
    assert.ok(state?.(backsOff)?.waiting?.message?.startsWith(`Back-off pulling image "${image}": ErrImagePull: `));
    assert.equal(backsOff.status?.phase, 'Pending');
    await node.kubectl('delete', 'pod', node.called('pull'), '--wait=false');
  });

  test('a pod with a readiness gate is ready when somebody has set its condition', async () => {
    const conditionType = 'example.com/ready';
    await node.create('gated', pod([app()], { readinessGates: [{ conditionType }] }));
    const running = await node.becomes('gated', 'held by its gate', ({ status }) =>
      Boolean(status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'ReadinessGatesNotReady')),
    );
    assert.ok(!isPodReady(running));
    const { resourceVersion: _any, ...metadata } = running.metadata ?? {};
    const conditions = [...(running.status?.conditions ?? []), { type: conditionType, status: 'True' }];
    const file = join(node.agent.dir, 'gated.json');
    await writeFile(
      file,
      JSON.stringify({ ...running, apiVersion: 'v1', kind: 'Pod', metadata, status: { ...running.status, conditions } }),
    );
    await node.kubectl('replace', '--raw', `/api/v1/namespaces/${node.namespace}/pods/${node.called('gated')}/status`, '-f', file);
    await node.up('gated');
    await node.kubectl('delete', 'pod', node.called('gated'), '--wait=false');
  });

  test('a pod over its deadline has failed once its containers have ended', async () => {
    await node.create('late', pod([app('sleep 1000; true')], { activeDeadlineSeconds: 3, terminationGracePeriodSeconds: 4 }));
    const failed = await node.phase('late', 'Failed');
    assert.equal(failed.status?.reason, 'DeadlineExceeded');
    assert.equal(state?.(failed)?.terminated?.exitCode, 137);
  });
});
