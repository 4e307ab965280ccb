import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/seeded-random.ts';
import type { PodFullName, PodUid } from '../../../src/model/pod.ts';
import type { TracedWork } from '../../../src/ports/tracing.ts';
import type { Span } from '../../../src/tracing/span.ts';
import { spanIds } from '../../../src/tracing/span-ids.ts';
import { Tracer } from '../../../src/tracing/tracer.ts';
import { aPod } from '../../builders/a-pod.ts';
import { agentOnFakeEngine, always } from '../../fakes/agent-on-fake-engine.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const look: TracedWork = { do: 'look', uid: 'u1' as PodUid, name: 'web_default' as PodFullName };
const act: TracedWork = { do: 'act', action: { do: 'startContainer', name: 'app', attempt: 2, init: false } };
const serve = (traceparent: string | undefined): TracedWork => ({ do: 'serve', method: 'GET', route: '/pods', traceparent });
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentSpanId = '00f067aa0ba902b7';

function tracing(samplingRatePerMillion = 1_000_000) {
  const clock = new FakeClock();
  const spans: Span[] = [];
  const tracer = new Tracer({ clock, ids: spanIds(seededRandom(1)), samplingRatePerMillion, onEnded: (span) => spans.push(span) });
  const named = (name: string): Span => {
    const found = spans.find((span) => span.name === name);
    assert.ok(found, `no span ${name} among ${spans.map((span) => span.name).join(', ')}`);
    return found;
  };
  return { clock, spans, tracer, named };
}

test('what is done within work is below it, also at the same time as something else', async () => {
  const { clock, spans, tracer, named } = tracing();
  const stop = (name: string): TracedWork => ({ do: 'act', action: { do: 'runSandbox', attempt: name === 'a' ? 0 : 1 } });
  const done = tracer.within(look, async () => {
    await clock.sleep(10);
    await Promise.all([
      tracer.within(act, async () => {
        await clock.sleep(5);
        tracer.listener.engineCalled({ what: 'POST /containers/123/start', tookMs: 3, failed: undefined });
      }),
      tracer.within(stop('a'), async () => {
        await clock.sleep(7);
        tracer.listener.engineCalled({ what: 'POST /containers/create?name=x', tookMs: 100, failed: 'timeout' });
      }),
    ]);
  });
  await clock.advance(100);
  await done;
  assert.equal(spans.length, 5);
  assert.deepEqual(new Set(spans.map((span) => span.traceId)).size, 1);
  const [root, started, sandbox] = [named('syncPod'), named('startContainer'), named('runSandbox')];
  assert.equal(root.parentSpanId, undefined);
  assert.deepEqual([started.parentSpanId, sandbox.parentSpanId], [root.spanId, root.spanId]);
  assert.equal(named('POST /containers/{id}/start').parentSpanId, started.spanId);
  assert.equal(named('POST /containers/create').parentSpanId, sandbox.spanId);
  assert.equal(named('POST /containers/create').error, 'no answer in time');
  // A call that says that it took longer than what it was done for begins with it.
  assert.equal(named('POST /containers/create').startMs, sandbox.startMs);
  assert.deepEqual(started.attributes, { 'k8s.pod.uid': 'u1', 'k8s.container.name': 'app', 'rxlet.attempt': 2 });
  assert.deepEqual([root.endMs - root.startMs, started.endMs - started.startMs, sandbox.endMs - sandbox.startMs], [17, 5, 7]);
});

test('a date that is set meanwhile tears no trace apart', async () => {
  const { clock, tracer, named } = tracing();
  const done = tracer.within(look, async () => {
    await clock.sleep(10);
    clock.moveDate(-3_600_000);
    await tracer.within(act, () => clock.sleep(10));
    clock.moveDate(86_400_000);
  });
  await clock.advance(100);
  await done;
  const [root, child] = [named('syncPod'), named('startContainer')];
  assert.deepEqual([child.startMs - root.startMs, child.endMs - root.startMs, root.endMs - root.startMs], [10, 20, 20]);
});

test('what fails shows it, and fails', async () => {
  const { tracer, named } = tracing();
  await assert.rejects(
    tracer.within(act, () => Promise.reject(new Error('x'.repeat(5000)))),
    /^Error: x+$/,
  );
  assert.equal(named('startContainer').error?.length, 1025);
  assert.throws(
    () =>
      void tracer.within(look, () => {
        throw new Error('at once');
      }),
    /at once/,
  );
  assert.equal(named('syncPod').error, 'at once');
});

test('who asks decides whether that is traced; else the rate does, for all that belongs together', async () => {
  const { spans, tracer } = tracing(0);
  const headers: (string | undefined)[] = [];
  const within = (work: TracedWork): Promise<void> =>
    tracer.within(work, () => tracer.within(act, async (header) => void headers.push(header)));
  await within(look);
  await within(serve(undefined));
  await within(serve(`00-${traceId}-${parentSpanId}-00`));
  await within(serve('nonsense'));
  assert.deepEqual([spans.length, headers], [0, [undefined, undefined, undefined, undefined]]);
  await within(serve(`00-${traceId}-${parentSpanId}-01`));
  const [child, served] = spans;
  assert.deepEqual([served?.name, served?.kind, served?.traceId, served?.parentSpanId], ['/pods', 'server', traceId, parentSpanId]);
  assert.equal(child?.parentSpanId, served?.spanId);
  assert.equal(headers.at(-1), `00-${traceId}-${child?.spanId}-01`);

  const all = tracing(1_000_000);
  await all.tracer.within(serve(`00-${traceId}-${parentSpanId}-00`), async () => {});
  assert.deepEqual(all.spans, []);
});

test('what a look has begun, and outlives it, belongs to its trace no longer', async () => {
  const { clock, spans, tracer } = tracing();
  let later = Promise.resolve();
  await tracer.within(look, async () => {
    later = clock.sleep(1000).then(() => {
      tracer.listener.engineCalled({ what: 'GET /info', tookMs: 1, failed: undefined });
      return tracer.within({ do: 'operate', operation: 'version' }, async () => {});
    });
  });
  await clock.advance(1000);
  await later;
  assert.deepEqual(
    spans.map(({ name, parentSpanId: parent }) => [name, parent]),
    [
      ['syncPod', undefined],
      ['version', undefined],
    ],
  );
  assert.notEqual(spans[0]?.traceId, spans[1]?.traceId);
});

test('a request to the API shows its answer, and a path without what was asked', async () => {
  const { tracer, named } = tracing();
  await tracer.within(
    { do: 'ask the API', client: 'main', method: 'PATCH', server: 'https://api:6443', path: '/api/v1/nodes/n1' },
    async () => tracer.listener.apiRequested({ method: 'PATCH', server: 'https://api:6443', status: 409, tookMs: 1 }),
  );
  const { kind, attributes, error } = named('HTTP PATCH');
  assert.deepEqual([kind, error], ['client', '409']);
  assert.deepEqual(attributes, {
    'http.request.method': 'PATCH',
    'server.address': 'https://api:6443',
    'url.path': '/api/v1/nodes/n1',
    'rxlet.client': 'main',
    'http.response.status_code': 409,
  });
});

test("an agent's looks at a pod: its start is one trace, with each action and the pull, and its end is another", async () => {
  const spans: Span[] = [];
  const clock = new FakeClock();
  const tracer = new Tracer({
    clock,
    ids: spanIds(seededRandom(1)),
    samplingRatePerMillion: 1_000_000,
    onEnded: (span) => spans.push(span),
  });
  const agent = agentOnFakeEngine({ clock, capabilities: [always('tracing', () => ({ tracing: tracer, listener: tracer.listener }))] });
  const pod = aPod('web');
  agent.declare([pod]);
  await agent.clock.advance(1000);
  const root = spans.find(({ name, attributes }) => name === 'syncPod' && attributes['k8s.pod.update_type'] === 'create');
  assert.ok(root, 'no look created the pod');
  assert.deepEqual(
    { ...root.attributes, 'rxlet.because': undefined },
    {
      'k8s.pod.uid': 'uid-web',
      'k8s.pod': 'default/web',
      'k8s.pod.name': 'web',
      'k8s.namespace.name': 'default',
      'k8s.pod.update_type': 'create',
      'rxlet.life': 'syncing',
      'rxlet.wakes': ['pod added'],
      'rxlet.because': undefined,
      'rxlet.actions': root.attributes['rxlet.actions'],
      'rxlet.phase': 'Pending',
      'rxlet.outcome': 'done',
      'rxlet.next': root.attributes['rxlet.next'],
    },
  );
  const below = spans.filter(({ parentSpanId: parent }) => parent === root.spanId);
  assert.deepEqual(
    below.map(({ name }) => name),
    ['admit', 'prepare', 'runSandbox', 'startContainer'],
  );
  const started = below.at(-1);
  assert.equal(started?.attributes['k8s.container.name'], 'app');
  assert.equal(started?.traceId, root.traceId);
  const before = spans.length;
  agent.declare([]);
  await agent.clock.advance(60_000);
  const ending = spans.slice(before).filter(({ name }) => name === 'syncTerminatingPod');
  assert.ok(ending.length > 0);
  assert.ok(ending.every(({ traceId: other, attributes }) => other !== root.traceId && attributes['k8s.pod.update_type'] === 'kill'));
  assert.ok(spans.slice(before).some(({ name, attributes }) => name === 'stopContainer' && attributes['container.id'] !== undefined));
  for (const span of spans) {
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
    assert.ok(span.parentSpanId === undefined || parent, `${span.name} has no parent`);
    if (parent) assert.ok(parent.startMs <= span.startMs && span.endMs <= parent.endMs, `${span.name} is not within ${parent.name}`);
  }
  await agent.close();
});

test('a pull that waited for another one is a part of what asked for it', async () => {
  const store = new AsyncLocalStorage<string>();
  const { PullQueue } = await import('../../../src/images/pull-queue.ts');
  const pulled: string[] = [];
  const first = Promise.withResolvers<string>();
  const queue = new PullQueue({
    images: {
      pullImage: (image) => (pulled.push(`${image} for ${store.getStore()}`), image === 'a' ? first.promise : Promise.resolve(image)),
    },
    limiter: undefined,
    maxParallelPulls: () => 1,
  });
  const { signal } = new AbortController();
  const ask = (image: string, who: string): Promise<unknown> =>
    store.run(who, () => queue.pull(image, [], { onQueued: () => {}, onProgress: () => {} }, signal));
  const asked = [ask('a', 'one'), ask('b', 'two')];
  first.resolve('a');
  await Promise.all(asked);
  assert.deepEqual(pulled, ['a for one', 'b for two']);
});
