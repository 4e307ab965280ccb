import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainPod } from '../../../src/explain/explain-pod.ts';
import type { PodFacts, SeenPod } from '../../../src/explain/pod-facts.ts';
import type { PodStatus } from '../../../src/model/pod.ts';
import type { ReconcileRecord } from '../../../src/ports/pod-plan.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString();

const aSeen = (over: Partial<SeenPod> = {}): SeenPod => ({ pod: 'default/web', events: [], probes: new Map(), pulls: new Map(), ...over });

function factsOf(status: PodStatus, over: Partial<Omit<PodFacts, 'seen'>> & { readonly seen?: Partial<SeenPod> } = {}): PodFacts {
  const pod = aPod('web', { containers: [aContainer('app', { image: 'i:1' })] });
  return {
    nowMs: NOW,
    dateOffsetMs: 0,
    uid: 'u1',
    declared: pod,
    pod,
    origin: {},
    manifestFaults: [],
    ignored: [],
    synced: true,
    engineFault: undefined,
    mirror: undefined,
    holder: undefined,
    lastLines: new Map(),
    ...over,
    seen: aSeen({ status, ...over.seen }),
  };
}

const waiting = (reason: string, message: string): PodStatus => ({
  phase: 'Pending',
  containerStatuses: [{ name: 'app', image: 'i:1', imageID: '', ready: false, restartCount: 0, state: { waiting: { reason, message } } }],
});

const firstCause = (facts: PodFacts) => explainPod(facts).causes[0];

for (const [words, code] of [
  ['manifest for i:1 not found: manifest unknown', 'image-not-found'],
  ['toomanyrequests: You have reached your pull rate limit', 'image-pull-rate-limit'],
  ['pull access denied for i, repository does not exist or may require docker login', 'image-pull-unauthorized'],
  ['dial tcp 10.0.0.1:443: connect: connection refused', 'registry-down'],
  ['dial tcp: lookup registry.example on 10.0.0.2:53: no such host', 'registry-name-not-resolved'],
  ['no matching manifest for linux/amd64 in the manifest list entries', 'image-wrong-platform'],
  ['get image config descriptor: no match for platform in manifest sha256:f76d: not found', 'image-wrong-platform'],
  ['x509: certificate signed by unknown authority', 'registry-tls'],
  ['something else', 'image-pull-failed'],
])
  test(`an engine that says "${words}" means ${code}`, () => {
    assert.equal(firstCause(factsOf(waiting('ErrImagePull', words ?? '')))?.code, code);
  });

for (const [failed, code] of [
  ['connect ECONNREFUSED /var/run/docker.sock', 'engine-down'],
  ['interrupted', undefined],
] as const)
  test(`a look without an answer of the engine, because of "${failed}", means ${code ?? 'nothing about the engine'}`, () => {
    const record: ReconcileRecord = {
      uid: 'u1' as never,
      pod: 'default/web',
      atMs: 0,
      wakes: [],
      life: 'syncing',
      plan: { actions: [], next: 'on-change', because: ['the engine could not be asked'] },
      outcomes: [],
      observeMs: 1,
      totalMs: 1,
      phase: 'Running',
      failed,
      unobserved: true,
      next: 'on-change',
    };
    const { causes } = explainPod(factsOf({ phase: 'Running' }, { seen: { last: { record, endedAtMs: NOW } } }));
    assert.equal(causes.find((cause) => cause.code === 'engine-down')?.code, code);
  });

test('a pull under way tells how far it is and how long it takes yet', () => {
  const pull = {
    uid: 'u1' as never,
    container: 'app',
    image: 'i:1',
    stage: 'under way',
    layers: 3,
    layersDone: 1,
    bytes: 1e7,
    bytesDone: 4.3e6,
    msLeft: 20_000,
  } as const;
  const explanation = explainPod(
    factsOf(waiting('ContainerCreating', ''), {
      seen: { pulls: new Map([['app i:1', { pull, sinceMs: NOW - 5_000, atMs: NOW, failsSinceMs: undefined }]]) },
    }),
  );
  assert.equal(explanation.causes[0]?.text, 'image i:1 of container app is being pulled: 43 %, 4.3 of 10.0 MB, about 20 s left');
  assert.equal(explanation.state, 'waiting');
  assert.equal(explanation.containers[0]?.pull?.percent, 43);
});

test('a crash loop tells the exit code, what the container wrote last, and until when it waits', () => {
  const status = waiting('CrashLoopBackOff', 'back-off 1m20s restarting failed container=app pod=web');
  const [app] = status.containerStatuses ?? [];
  assert.ok(app);
  const crashed = {
    ...status,
    containerStatuses: [{ ...app, restartCount: 4, lastState: { terminated: { exitCode: 3, startedAt: at(12), finishedAt: at(10) } } }],
  };
  const cause = firstCause(factsOf(crashed, { lastLines: new Map([['app', ['starting', 'ERROR: no settings', 'bye']]]) }));
  assert.equal(cause?.text, 'container app crashes: exit code 3 after 2 s: ERROR: no settings; restarted 4 times');
  assert.equal(cause.untilMs, NOW + 70_000);
});

for (const [from, to, words] of [
  // In whole seconds, as statuses have them: of half a second each second time.
  [10, 10, 'at once'],
  [11, 10, 'at once'],
  [12, 10, 'after 2 s'],
  // As an engine that was busy has it.
  [2, 30, 'at once'],
] as const)
  test(`a container that began ${from} s ago and ended ${to} s ago crashed ${words}`, () => {
    const ended = { exitCode: 4, startedAt: at(from), finishedAt: at(to) };
    const app = { name: 'app', image: 'i:1', imageID: '', ready: false, restartCount: 0, state: { terminated: ended } };
    const cause = firstCause(factsOf({ phase: 'Failed', containerStatuses: [app] }, { lastLines: new Map([['app', ['broken']]]) }));
    assert.equal(cause?.text, `container app crashes: exit code 4 ${words}: broken`);
  });

test('a restart that was asked for is no crash', () => {
  const status: PodStatus = {
    phase: 'Running',
    containerStatuses: [
      {
        name: 'app',
        image: 'i:1',
        imageID: '',
        ready: true,
        restartCount: 1,
        state: { running: { startedAt: at(5) } },
        lastState: { terminated: { exitCode: 137, startedAt: at(60), finishedAt: at(6) } },
      },
    ],
  };
  const killing = {
    atMs: NOW - 8_000,
    times: 1,
    type: 'Normal',
    reason: 'Killing',
    message: 'Container app definition changed, will be restarted',
    container: 'app',
  } as const;
  assert.deepEqual(explainPod(factsOf(status, { seen: { events: [killing] } })).causes, []);
  assert.equal(firstCause(factsOf(status))?.code, 'crashed');
});

test('what is wrong comes before what only takes time, and that before notes', () => {
  const facts = factsOf(waiting('ErrImagePull', 'manifest unknown'), {
    ignored: ['/m/other.yaml'],
    mirror: { error: 'forbidden', sinceMs: NOW },
  });
  assert.deepEqual(
    explainPod(facts).causes.map(({ kind }) => kind),
    ['fault', 'fault', 'note'],
  );
});

test('of a pod of 5,000 sick containers the first 20 causes are told', () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `c${i}`);
  const pod = aPod('web', { containers: names.map((name) => aContainer(name)) });
  const [app] = waiting('ErrImagePull', 'manifest unknown').containerStatuses ?? [];
  assert.ok(app);
  const status = { phase: 'Pending', containerStatuses: names.map((name) => ({ ...app, name })) };
  assert.equal(explainPod(factsOf(status, { declared: pod, pod })).causes.length, 20);
});

test('of a pod that is gone it is told how it ended', () => {
  const { state, causes } = explainPod(
    factsOf(
      { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory. ' },
      { declared: undefined, pod: undefined, seen: { goneAtMs: NOW - 1_000 } },
    ),
  );
  assert.equal(state, 'gone');
  assert.deepEqual(
    causes.map(({ code }) => code),
    ['evicted', 'gone'],
  );
});
