import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { controlPlane } from '../../builders/cluster-under-test.ts';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import { ClusterNode } from './cluster-node.ts';

/** The API of the cluster under test has them behind a gate; the agent has none. */
describe('ephemeral containers', { timeout: 250_000 }, () => {
  before(async () => {
    await controlPlane('stop', 'apiserver');
    await controlPlane('start', 'apiserver', '--', '--feature-gates=EphemeralContainers=true');
  });
  after(async () => {
    await controlPlane('stop', 'apiserver');
    await controlPlane('start', 'apiserver');
  });

  const debug = async (node: ClusterNode, name: string, ...containers: readonly object[]): Promise<void> => {
    const path = `/api/v1/namespaces/${node.namespace}/pods/${node.called(name)}/ephemeralcontainers`;
    const file = join(node.agent.dir, 'ephemeral.json');
    const object = {
      apiVersion: 'v1',
      kind: 'EphemeralContainers',
      metadata: { name: node.called(name) },
      ephemeralContainers: containers,
    };
    await writeFile(file, JSON.stringify(object));
    await node.kubectl('replace', '--raw', path, '-f', file);
  };

  test('run in a running pod when asked for, once, and see the processes of their target', async (t) => {
    const node = await ClusterNode.start(t);
    await node.create('web', pod());
    const { status } = await node.up('web');
    const app0 = status?.containerStatuses?.[0];

    const image = app().image;
    const script = `[ $$ = 1 ] || tr '\\0' ' ' </proc/1/cmdline >/dev/termination-log; exit 4`;
    const first = { name: 'look', image, command: ['sh', '-c', script], targetContainerName: 'app', terminationMessagePolicy: 'File' };
    await debug(node, 'web', first);
    const looked = await node.becomes('web', 'looked into', ({ status: now }) =>
      Boolean(now?.ephemeralContainerStatuses?.[0]?.state?.terminated),
    );
    const terminated = looked.status?.ephemeralContainerStatuses?.[0]?.state?.terminated;
    assert.deepEqual([terminated?.exitCode, terminated?.message], [4, `sh -c ${stays} `]);

    await debug(node, 'web', first, { name: 'shell', image, command: ['sleep', '1000'], stdin: true, tty: true });
    const both = await node.becomes('web', 'open to a second one', ({ status: now }) =>
      Boolean(now?.ephemeralContainerStatuses?.some(({ name, state }) => name === 'shell' && state?.running)),
    );
    assert.equal(both.status?.phase, 'Running');
    assert.equal(both.status?.containerStatuses?.[0]?.containerID, app0?.containerID);
    assert.deepEqual(
      both.status?.ephemeralContainerStatuses?.map(({ name, restartCount, state }) => [name, restartCount, Object.keys(state ?? {})]),
      [
        ['look', 0, ['terminated']],
        ['shell', 0, ['running']],
      ],
    );
    const event = await node.event(node.called('web'), 'Started', ({ involvedObject }) =>
      Boolean(involvedObject?.fieldPath?.startsWith('spec.ephemeralContainers')),
    );
    assert.equal(event.message, 'Started container look');

    await node.kubectl('delete', 'pod', node.called('web'), '--grace-period=1');
    await node.gone('web');
    assert.deepEqual(await node.containers('web'), []);
  });
});
