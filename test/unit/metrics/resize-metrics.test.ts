import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { FakeEngineError } from '../../../src/engines/fake/call-gate.ts';
import * as metrics from '../../../src/metrics/capability.ts';
import type { Container, Pod } from '../../../src/model/pod.ts';
import type { MetricText } from '../../../src/ports/metric-text.ts';
import { aPodThat, server, worker } from '../../builders/pods-that.ts';
import { type AgentOnFakeEngine, agentOnFakeEngine, always } from '../../fakes/agent-on-fake-engine.ts';

type Resources = Container['resources'];
const podOf = (name: string, generation: number, resources: Resources): Pod =>
  aPodThat(name, { containers: [server('app', { ...(resources && { resources }) })] }, {}, { generation });
const cpu = (amount: string): Resources => ({ requests: { cpu: amount } });

/** A node of one CPU, and the metrics of its agent. */
function aNode(t: TestContext): AgentOnFakeEngine & { readonly series: (of: string) => Promise<readonly string[]> } {
  let texts: readonly MetricText[] = [];
  const agent = agentOnFakeEngine({
    source: 'api',
    node: () => ({ status: { allocatable: { cpu: '1', memory: '1Gi', pods: '10' } } }),
    capabilities: [
      always('metrics', (node) => {
        const contribution = metrics.capability(node);
        texts = contribution.metricTexts ?? [];
        return contribution;
      }),
    ],
  });
  t.after(() => agent.close());
  return {
    ...agent,
    series: async (of) => {
      const all = await Promise.all(texts.map((text) => text(new AbortController().signal)));
      return all
        .join('\n')
        .split('\n')
        .filter((line) => line.startsWith(`kubelet_${of}`))
        .map((line) => line.slice(`kubelet_${of}`.length))
        .toSorted((a, b) => (a < b ? -1 : 1));
    },
  };
}

test('what containers ask for is counted by what it changes', async (t) => {
  const node = aNode(t);
  const versions: readonly Resources[] = [
    { requests: { cpu: '100m', memory: '64Mi' } },
    { requests: { cpu: '200m', memory: '32Mi' }, limits: { cpu: '1' } },
    { requests: { cpu: '200m' }, limits: { cpu: '1' } },
  ];
  for (const [index, resources] of versions.entries()) {
    node.declare([podOf('web', index + 1, resources)]);
    await node.clock.advance(1000);
  }
  assert.deepEqual(await node.series('container_requested_resizes_total'), [
    '{resource="cpu",requirement="limits",operation="add"} 1',
    '{resource="cpu",requirement="requests",operation="increase"} 1',
    '{resource="memory",requirement="requests",operation="decrease"} 1',
    '{resource="memory",requirement="requests",operation="remove"} 1',
  ]);
});

test('a resize that waits is counted while it does, and once with what it waited for', async (t) => {
  const node = aNode(t);
  const other = podOf('other', 1, cpu('600m'));
  const job = aPodThat('job', { restartPolicy: 'Never', containers: [{ ...worker('work', 30), resources: cpu('100m') ?? {} }] });
  const step = async (...pods: readonly Pod[]): Promise<readonly (readonly string[])[]> => {
    node.declare(pods);
    await node.clock.advance(1000);
    return Promise.all(['pod_pending_resizes', 'pod_deferred_accepted_resizes_total'].map((each) => node.series(each)));
  };
  assert.deepEqual(await step(podOf('web', 1, cpu('100m')), other, job), [[], []]);
  assert.deepEqual(await step(podOf('web', 2, cpu('400m')), other, job), [['{reason="deferred"} 1'], []]);
  await node.clock.advance(60_000);
  const ended = '{retry_trigger="pod_terminated"} 1';
  assert.deepEqual(await step(podOf('web', 2, cpu('400m')), other, job), [[], [ended]]);
  assert.deepEqual(await step(podOf('web', 3, cpu('800m')), other, job), [['{reason="deferred"} 1'], [ended]]);
  assert.deepEqual(await step(podOf('web', 4, cpu('300m')), other, job), [[], [ended, '{retry_trigger="pod_updated"} 1']]);
  await step(podOf('web', 5, cpu('800m')), other, job);
  await step(podOf('web', 5, cpu('800m')));
  await node.clock.advance(60_000);
  assert.deepEqual((await step(podOf('web', 5, cpu('800m'))))[1], [
    ended,
    '{retry_trigger="pod_updated"} 1',
    '{retry_trigger="pods_removed"} 1',
  ]);
  assert.deepEqual(await step(), [[], [ended, '{retry_trigger="pod_updated"} 1', '{retry_trigger="pods_removed"} 1']]);
});

test('a resize is in progress until it is brought about, and is measured with whether it worked', async (t) => {
  const node = aNode(t);
  node.declare([podOf('web', 1, cpu('100m'))]);
  await node.clock.advance(1000);
  node.engine.controls.fail('updateContainer', new FakeEngineError('refused'));
  node.declare([podOf('web', 2, cpu('200m'))]);
  await node.clock.advance(100);
  assert.deepEqual(await node.series('pod_in_progress_resizes'), [' 1']);
  await node.clock.advance(60_000);
  assert.deepEqual(await node.series('pod_in_progress_resizes'), [' 0']);
  assert.deepEqual(await node.series('pod_resize_duration_milliseconds_count'), ['{success="false"} 1', '{success="true"} 1']);
});
