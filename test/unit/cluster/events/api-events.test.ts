import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { apiEvents } from '../../../../src/cluster/events/api-events.ts';
import { eventRecorders } from '../../../../src/cluster/events/event-recorders.ts';
import type { KubeEvent } from '../../../../src/model/kube-event.ts';
import { ApiError, ApiUnreachableError } from '../../../../src/model/api-error.ts';
import { nodeReference } from '../../../../src/model/object-reference.ts';
import type { EventRecorder } from '../../../../src/ports/event-recorder.ts';
import type { ApiRequest } from '../../../../src/ports/kube-api.ts';
import { aPod } from '../../../builders/a-pod.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

/** Stands where the API server would: `answer` decides on each call. */
class Server {
  readonly calls: ApiRequest[] = [];
  answer: (call: ApiRequest) => Promise<unknown> = () => Promise.resolve({});

  request<T>(call: ApiRequest): Promise<T> {
    this.calls.push(call);
    return this.answer(call) as Promise<T>;
  }

  get created(): readonly KubeEvent[] {
    return this.calls.filter(({ method }) => method === 'POST').map(({ body }) => body as KubeEvent);
  }
}

/** How long the first event after a silence waits for others. */
const TOGETHER_MS = 500;

function running(t: TestContext) {
  const clock = new FakeClock();
  clock.frame = Date.parse('2021-02-03T04:05:06Z');
  const log = new RecordingLogger();
  const server = new Server();
  const events = apiEvents({ clock, log, api: server, nodeName: 'lab', random: () => 0.5 });
  const stop = new AbortController();
  const done = events.sink.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await done;
    assert.equal(clock.actions.length, 0, 'a timer is pending');
  });
  return { clock, log, server, ...events };
}

const pod = aPod('web');
const unreachable = (): Promise<never> => Promise.reject(new ApiUnreachableError('no connection'));
const refusal =
  (status: number, reason: string, message = reason) =>
  (): Promise<never> =>
    Promise.reject(new ApiError(status, reason, message));

test('events of one moment are sent half a second after the first, in their order, so that they do not compete with what they tell of', async (t) => {
  const { clock, server, recorder } = running(t);
  await clock.advance(10_000);
  recorder.record(pod, 'Normal', 'Pulled', 'Container image "busybox" already present on machine', 'app');
  await clock.advance(TOGETHER_MS - 1);
  recorder.record(pod, 'Normal', 'Created', 'Created container app', 'app');
  recorder.record(pod, 'Normal', 'Started', 'Started container app', 'app');
  assert.deepEqual(server.calls, []);
  await clock.advance(1);
  assert.deepEqual(
    server.created.map(({ reason }) => reason),
    ['Pulled', 'Created', 'Started'],
  );
});

test('an event of a container is created as the kubelet creates it', async (t) => {
  const { clock, server, recorder } = running(t);
  recorder.record(pod, 'Normal', 'Started', 'Started container app', 'app');
  await clock.advance(TOGETHER_MS);
  assert.deepEqual(server.calls, [
    {
      method: 'POST',
      path: '/api/v1/namespaces/default/events',
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'web.166021243592f400', namespace: 'default' },
        involvedObject: {
          kind: 'Pod',
          apiVersion: 'v1',
          name: 'web',
          namespace: 'default',
          uid: 'uid-web',
          fieldPath: 'spec.containers{app}',
        },
        type: 'Normal',
        reason: 'Started',
        message: 'Started container app',
        source: { component: 'kubelet', host: 'lab' },
        reportingComponent: 'kubelet',
        reportingInstance: 'lab',
        firstTimestamp: '2021-02-03T04:05:06Z',
        lastTimestamp: '2021-02-03T04:05:06Z',
        count: 1,
      },
    },
  ]);
});

test("a node's event stands in the default namespace", async (t) => {
  const { clock, server, recorder } = running(t);
  recorder.record(nodeReference('lab'), 'Normal', 'NodeReady', 'Node lab status is now: NodeReady');
  await clock.advance(TOGETHER_MS);
  assert.deepEqual(
    server.created.map(({ metadata, involvedObject }) => [metadata.namespace, involvedObject]),
    [['default', { kind: 'Node', name: 'lab', uid: 'lab' }]],
  );
});

test('events of one moment have names of their own', async (t) => {
  const { clock, server, recorder } = running(t);
  recorder.record(pod, 'Normal', 'Pulled', 'a', 'app');
  recorder.record(pod, 'Normal', 'Created', 'b', 'app');
  await clock.advance(TOGETHER_MS);
  assert.deepEqual(
    server.created.map(({ metadata }) => metadata.name),
    ['web.166021243592f400', 'web.166021243592f401'],
  );
});

test('a container that was started implicitly has no events', async (t) => {
  const { clock, server, recorder } = running(t);
  recorder.record(pod, 'Normal', 'Started', 'Started container POD', 'POD');
  await clock.advance(TOGETHER_MS);
  assert.deepEqual(server.calls, []);
});

test('a repeat patches the first event; when that is gone it becomes an event again, with its count', async (t) => {
  const { clock, server, recorder } = running(t);
  const record = async (): Promise<void> => {
    recorder.record(pod, 'Warning', 'BackOff', 'Back-off restarting failed container', 'app');
    await clock.advance(1000);
  };
  await record();
  await record();
  server.answer = ({ method }) => (method === 'PATCH' ? refusal(404, 'NotFound')() : Promise.resolve({}));
  await record();
  const path = '/api/v1/namespaces/default/events';
  assert.deepEqual(
    server.calls.map(({ method, path }) => [method, path]),
    [
      ['POST', path],
      ['PATCH', `${path}/web.166021243592f400`],
      ['PATCH', `${path}/web.166021243592f400`],
      ['POST', path],
    ],
  );
  assert.equal(server.calls[1]?.contentType, 'application/strategic-merge-patch+json');
  assert.deepEqual(server.calls[1]?.body, {
    count: 2,
    lastTimestamp: '2021-02-03T04:05:07Z',
    message: 'Back-off restarting failed container',
  });
  assert.deepEqual([server.created[1]?.count, server.created[1]?.metadata.name], [3, 'web.166021243592f400']);
});

test('recording returns at once while the server is away; when it is back, everything is sent in order', async (t) => {
  const { clock, server, recorder } = running(t);
  server.answer = unreachable;
  for (const reason of ['Pulled', 'Created', 'Started'] as const) recorder.record(pod, 'Normal', reason, 'm', 'app');
  await clock.advance(45_000);
  // At 0, somewhere in the first 10 s, then each 10 s.
  assert.equal(server.calls.length, 5);
  server.answer = () => Promise.resolve({});
  server.calls.length = 0;
  await clock.advance(10_000);
  assert.deepEqual(
    server.created.map(({ reason }) => reason),
    ['Pulled', 'Created', 'Started'],
  );
});

for (const [what, answer] of [
  ['a missing server', unreachable],
  ['an overloaded server', refusal(429, 'TooManyRequests')],
  ['a starting server', refusal(503, 'ServiceUnavailable')],
] as const) {
  test(`${what} is tried twelve times, then the next event has its turn`, async (t) => {
    const { clock, log, server, recorder } = running(t);
    server.answer = answer;
    recorder.record(pod, 'Normal', 'Pulled', 'm');
    recorder.record(pod, 'Normal', 'Created', 'm');
    await clock.advance(110_000);
    assert.deepEqual(
      server.created.map(({ reason }) => reason),
      [...Array.from({ length: 12 }, () => 'Pulled'), 'Created'],
    );
    assert.equal(log.count('event dropped: the API server cannot be reached'), 1);
  });
}

for (const [what, answer, said] of [
  ['a refused event', refusal(422, 'Invalid'), 1],
  ['an event for a forbidden namespace', refusal(403, 'Forbidden'), 1],
  ['an event that the server has already', refusal(409, 'AlreadyExists'), 0],
  ['an event for a namespace that is gone', refusal(404, 'NotFound'), 0],
  [
    'an event for a namespace that is going',
    refusal(403, 'Forbidden', 'events "x" is forbidden: unable to create new content in namespace x because it is being terminated'),
    0,
  ],
] as const) {
  test(`${what} is not tried again and ${said ? 'said' : 'not worth a word'}`, async (t) => {
    const { clock, log, server, recorder } = running(t);
    server.answer = answer;
    recorder.record(pod, 'Normal', 'Pulled', 'm');
    recorder.record(pod, 'Normal', 'Created', 'm');
    await clock.advance(TOGETHER_MS);
    assert.equal(server.calls.length, 2);
    assert.equal(log.count('event refused by the API server'), said * 2);
  });
}

test('what does not fit the queue is dropped, counted and said', async (t) => {
  const { clock, log, server, recorder, dropped } = running(t);
  server.answer = unreachable;
  await clock.advance(TOGETHER_MS);
  for (let i = 0; i < 1003; i++) recorder.record(aPod(`web-${i}`), 'Normal', 'Pulled', 'm');
  assert.equal(dropped(), 3);
  assert.deepEqual(log.lines.at(-1), {
    level: 'warn',
    message: 'event dropped: too many wait for the API server',
    fields: { waiting: 1000 },
  });
});

test('stopping ends a wait for the server', async (t) => {
  const { clock, server, recorder } = running(t);
  server.answer = unreachable;
  recorder.record(pod, 'Normal', 'Pulled', 'm');
  await clock.advance(TOGETHER_MS);
  assert.equal(clock.actions.length, 1);
});

test('two recorders are both told', () => {
  const told: string[] = [];
  const recorder = (name: string) => ({
    record: (_about: unknown, type: string, reason: string) => void told.push(`${name} ${type} ${reason}`),
  });
  eventRecorders(recorder('log'), recorder('api')).record(pod, 'Normal', 'Pulled', 'm', 'app');
  assert.deepEqual(told, ['log Normal Pulled', 'api Normal Pulled']);
});

test('an event has no credentials in it, whatever a program said', () => {
  const said: unknown[] = [];
  const recorder: EventRecorder = { record: (...event) => void said.push(event.slice(1)) };
  eventRecorders(recorder).record(pod, 'Warning', 'Unhealthy', 'Liveness probe failed: password=hunter2', 'app', { a: 'b' });
  assert.deepEqual(said, [['Warning', 'Unhealthy', 'Liveness probe failed: password=[redacted]', 'app', { a: 'b' }]]);
});

test('a pod that has ended is forgotten once what waited about it has been sent', async (t) => {
  const { clock, server, recorder, sink } = running(t);
  const tell = (): void => recorder.record(pod, 'Normal', 'Killing', 'Stopping container app');
  tell();
  tell();
  sink.forget(pod.metadata.uid);
  tell();
  await clock.advance(TOGETHER_MS);
  // The repeat was told before its end, and is none after it.
  assert.deepEqual(
    server.calls.map(({ method }) => method),
    ['POST', 'PATCH', 'POST'],
  );
  sink.forget(pod.metadata.uid);
  tell();
  await clock.advance(TOGETHER_MS);
  assert.equal(server.created.length, 3);
});

test('an event has the annotations that it was recorded with', async (t) => {
  const { clock, server, recorder } = running(t);
  recorder.record(pod, 'Warning', 'Evicted', 'The node was low on resource: memory. ', undefined, { starved_resource: 'memory' });
  recorder.record(pod, 'Normal', 'Pulling', 'Pulling image "busybox"', 'app');
  await clock.advance(TOGETHER_MS);
  assert.deepEqual(
    server.created.map(({ metadata }) => metadata.annotations),
    [{ starved_resource: 'memory' }, undefined],
  );
});
