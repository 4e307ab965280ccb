import assert from 'node:assert/strict';
import { request } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { type OtlpReceiver, otlpReceiver, type ReceivedSpan } from '../../fakes/otlp-receiver.ts';
import { testImage } from '../../builders/docker-under-test.ts';
import { AgentUnderTest } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

const header = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

async function agentThatTraces(t: TestContext, endpoint: string, rate: number, ...flags: string[]): Promise<AgentUnderTest> {
  const agent = await AgentUnderTest.prepare(t);
  const config = join(agent.dir, 'config.yaml');
  await writeFile(config, `${header}tracing: {endpoint: "${endpoint}", samplingRatePerMillion: ${rate}}\n`);
  agent.run(`--config=${config}`, ...flags);
  return agent;
}

const isCreation =
  (agent: AgentUnderTest, name: string) =>
  ({ name: of, attributes }: ReceivedSpan): boolean =>
    of === 'syncPod' && attributes['k8s.pod'] === `default/${agent.pod(name)}` && attributes['k8s.pod.update_type'] === 'create';

/** The start of the pod, from its first look on, with what it was made of. */
async function assertStartIsOneTrace(
  agent: AgentUnderTest,
  collector: OtlpReceiver,
  name: string,
  containers: readonly string[],
): Promise<readonly ReceivedSpan[]> {
  await collector.until((spans) => spans.some(isCreation(agent, name)));
  // What ended before it was sent before it, or with it.
  const root = collector.spans().find(isCreation(agent, name));
  assert.ok(root);
  const trace = collector.spans().filter(({ traceId }) => traceId === root.traceId);
  const childrenOf = (span: ReceivedSpan): readonly ReceivedSpan[] => trace.filter(({ parentSpanId }) => parentSpanId === span.spanId);
  for (const span of trace) {
    if (span === root) continue;
    const parent = trace.find(({ spanId }) => spanId === span.parentSpanId);
    assert.ok(parent, `${span.name} is in the trace and has no parent there`);
    assert.ok(parent.startMs <= span.startMs && span.endMs <= parent.endMs, `${span.name} is not within ${parent.name}`);
    assert.equal(span.error, undefined, span.name);
    assert.equal(span.attributes['k8s.pod.uid'], root.attributes['k8s.pod.uid'], span.name);
  }
  const actions = childrenOf(root).filter(({ kind, name: of }) => kind === 'INTERNAL' && of !== 'container_status');
  assert.deepEqual(
    actions.map(({ name: of, attributes }) => [of, attributes['k8s.container.name']].filter(Boolean).join(' ')),
    ['admit', 'prepare', 'runSandbox', ...containers.map((each) => `startContainer ${each}`)],
  );
  // One after the other, and together they are nearly all of it.
  const sum = actions.reduce((ms, { startMs, endMs }) => ms + endMs - startMs, 0);
  const whole = root.endMs - root.startMs;
  assert.ok(sum <= whole, `${sum} ms of ${whole}`);
  for (const [index, { startMs }] of actions.entries()) {
    const before = actions[index - 1];
    if (before) assert.ok(before.endMs <= startMs, 'actions overlap');
  }
  const verbs = new Set(trace.map(({ name: of }) => of));
  for (const verb of ['run_podsandbox', 'start_container', 'image_status'])
    assert.ok(verbs.has(verb), `no ${verb} among ${[...verbs].join(', ')}`);
  return trace;
}

describe('traces', { timeout: 180_000 }, () => {
  test('on the embedded engine: the start of a pod is one trace whose spans nest', async (t) => {
    const collector = await otlpReceiver(t);
    const agent = await agentThatTraces(t, collector.endpoint, 1_000_000, '--docker-endpoint=fake://');
    await agent.declare('web', pod([app(), app(stays, { name: 'side' })]));
    await assertStartIsOneTrace(agent, collector, 'web', ['app', 'side']);
    const [first] = collector.received;
    assert.deepEqual(
      [first?.scope, first?.resource['service.name'], typeof first?.resource['host.name']],
      ['k8s.io/kubernetes/pkg/kubelet', 'kubelet', 'string'],
    );
    assert.equal(await agent.kill(), 0);
  });

  test('on a real engine: so it is, down to the calls to the engine; secrets are not in it', async (t) => {
    const collector = await otlpReceiver(t);
    const agent = await agentThatTraces(t, collector.endpoint, 1_000_000);
    await agent.declare('web', pod([app(`: hunter2-in-args; ${stays}`, { env: [{ name: 'PASSWORD', value: 'hunter2' }] })]));
    await agent.up('web');
    const trace = await assertStartIsOneTrace(agent, collector, 'web', ['app']);
    const calls = trace.filter(({ kind }) => kind === 'CLIENT').map(({ name }) => name);
    for (const call of agent.engine.facts.callsOfAStart) assert.ok(calls.includes(call), calls.join(', '));
    assert.doesNotMatch(JSON.stringify(collector.received), /hunter2/);
    assert.equal(agent.lines.filter(({ msg }) => msg.startsWith('spans ')).length, 0);
  });

  test('a request that asks for it is traced, whatever the rate, and no other', async (t) => {
    const collector = await otlpReceiver(t);
    const agent = await agentThatTraces(t, collector.endpoint, 0, '--docker-endpoint=fake://');
    await agent.declare('web', pod());
    await agent.logged('runs', ({ msg, to }) => msg === 'pod phase changed' && to === 'Running');
    const traceId = 'a'.repeat(32);
    const asking = (traceparent: string): Promise<void> =>
      new Promise((resolve, reject) => {
        const asked = request({ socketPath: join(agent.rootDir, 'rxlet.sock'), path: '/pods', headers: { traceparent } }, (answer) =>
          answer.resume().once('end', resolve),
        );
        asked.once('error', reject).end();
      });
    await asking(`00-${traceId}-${'b'.repeat(16)}-01`);
    await asking(`00-${'c'.repeat(32)}-${'b'.repeat(16)}-00`);
    await collector.until((spans) => spans.length > 0);
    assert.equal(await agent.kill(), 0);
    assert.deepEqual(
      collector.spans().map(({ name, kind, traceId: of, parentSpanId }) => ({ name, kind, of, parentSpanId })),
      [{ name: '/pods', kind: 'SERVER', of: traceId, parentSpanId: 'b'.repeat(16) }],
    );
  });

  test('a collector that never answers harms nothing: pods start, and the agent ends', async (t) => {
    const collector = await otlpReceiver(t, { answer: () => {} });
    const agent = await agentThatTraces(t, collector.endpoint, 1_000_000, '--docker-endpoint=fake://');
    for (let i = 0; i < 20; i++) await agent.declare(`web-${i}`, pod([app('', { image: testImage })]));
    for (let i = 0; i < 20; i++)
      await agent.logged(
        `web-${i} runs`,
        ({ msg, pod: of, to }) => msg === 'pod phase changed' && String(of) === `default/${agent.pod(`web-${i}`)}` && to === 'Running',
      );
    await collector.until(() => collector.received.length > 0);
    const endedAfterMs = await timed(() => agent.kill());
    assert.ok(endedAfterMs < 10_000, `${endedAfterMs} ms`);
  });
});

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
