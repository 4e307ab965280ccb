import assert from 'node:assert/strict';
import type { Verb } from '../../../src/engines/fake/call-gate.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { aPodThat, edited, server, sidecar, worker } from '../../builders/pods-that.ts';
import { engineThatGoesOn } from '../../fakes/engine-that-goes-on.ts';
import { Scenario, scenario, scenarioOn } from '../../fakes/scenario.ts';

/** Every latency of the embedded engine is a multiple of this. */
const LATENCY_MS = 5;
/** Longer than any of the pods here takes to its last start. */
const START_MS = 200;

const pods = (): readonly Pod[] => [
  ...['Always', 'OnFailure', 'Never'].map((restartPolicy) =>
    aPodThat(`web-${restartPolicy.toLowerCase()}`, { restartPolicy, containers: [server('app'), server('log')] }),
  ),
  aPodThat('proxied', { initContainers: [worker('init', 0), sidecar('proxy')] }),
];
const allRun = [
  ...['always', 'never', 'onfailure'].flatMap((policy) => [`web-${policy}/POD`, `web-${policy}/app`, `web-${policy}/log`]),
  'proxied/POD',
  'proxied/app',
  'proxied/proxy',
].sort();

/** Each container has run once, as its first attempt, and nothing else is left of it. */
function assertStartedOnce(it: Scenario, of: readonly Pod[], when: string): void {
  assert.deepEqual(it.running(), allRun, when);
  const left = it.world().filter(({ state, name }) => state.phase !== 'running' && name !== 'POD' && name !== 'init');
  assert.deepEqual(left, [], when);
  const apps = it.world().filter(({ role }) => role.kind === 'container');
  assert.deepEqual(new Set(apps.map(({ attempt }) => attempt)), new Set([0]), when);
  for (const pod of of) {
    const { phase, containerStatuses = [] } = it.status(pod) ?? {};
    assert.equal(phase, 'Running', when);
    assert.ok(
      containerStatuses.every(({ restartCount }) => restartCount === 0),
      when,
    );
  }
}

async function clear(it: Scenario): Promise<void> {
  it.declare();
  await it.advance(60_000);
  assert.deepEqual(it.world(), []);
}

/** Has the engine pull the image that all containers here have. */
async function pullFirst(it: Scenario): Promise<void> {
  it.declare(aPodThat('first'));
  await it.advance(1000);
  await clear(it);
}

scenario('the first container is created while its sandbox starts, and started once that runs', async (it) => {
  await pullFirst(it);
  const begun = it.history.length;
  it.declare(aPodThat('web', { containers: [server('app'), server('log')] }));
  await it.advance(1000);
  const moments = it.history.slice(begun).map(({ what, part }) => `${what} ${part.name}`);
  assert.deepEqual(moments, ['created POD', 'created app', 'started POD', 'started app', 'created log', 'started log']);
});

scenario('an image that has to be pulled, or a policy that asks the registry, delays no sandbox, and is pulled once', async (it) => {
  it.engine.controls.scriptPull('slow:1', { kind: 'slow', ms: 20_000 });
  it.declare(aPodThat('web', { containers: [server('app', { image: 'slow:1', imagePullPolicy: 'Always' })] }));
  await it.advance(1000);
  assert.deepEqual(it.running(), ['web/POD']);
  await it.advance(30_000);
  assert.deepEqual(it.running(), ['web/POD', 'web/app']);
  assert.deepEqual([it.engine.controls.calls('pullImage'), it.engine.controls.calls('createContainer')], [1, 0]);
});

scenario('a container that is told its address waits for its sandbox', async (it) => {
  await pullFirst(it);
  const before = it.engine.controls.calls('createContainer');
  const env = [{ name: 'IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } }];
  it.declare(aPodThat('web', { containers: [server('app', { env })] }));
  await it.advance(1000);
  assert.deepEqual(it.running(), ['web/POD', 'web/app']);
  assert.equal(it.engine.controls.calls('createContainer'), before);
});

for (const [how, make] of [
  ['with what it had asked for undone', () => new Scenario()],
  ['with what it had asked for coming to pass', () => new Scenario(undefined, engineThatGoesOn)],
] as const)
  scenarioOn(make, `an agent that ends at any moment of a start, ${how}, leaves nothing that the next one misreads`, async (it) => {
    await pullFirst(it);
    const all = pods();
    let halfway = 0;
    for (let ms = 0; ms <= START_MS; ms += LATENCY_MS) {
      it.declare(...all);
      await it.advance(ms + 1);
      await it.stopAgent();
      if (it.world().some(({ state, role }) => state.phase === 'created' && role.kind === 'container')) halfway++;
      await it.advance(100);
      await it.restartAgent();
      it.declare(...all);
      await it.advance(120_000);
      assertStartedOnce(it, all, `ended after ${ms} ms`);
      await clear(it);
    }
    assert.ok(halfway > 0, 'some ended between a creation and its start');
  });

for (const verb of ['runSandbox', 'createContainer', 'startContainer', 'inspectImage', 'observePod'] satisfies readonly Verb[])
  for (const kind of ['fail', 'loseAnswer'] as const)
    scenario(
      `${verb} that ${kind === 'fail' ? 'fails' : 'works and loses its answer'}, once to three times: everything is started once`,
      async (it) => {
        await pullFirst(it);
        const all = pods();
        for (const times of [1, 2, 3]) {
          if (kind === 'fail') it.engine.controls.fail(verb, undefined, times);
          else it.engine.controls.loseAnswer(verb, times);
          it.declare(...all);
          await it.advance(300_000);
          assertStartedOnce(it, all, `${times} times`);
          await clear(it);
        }
      },
    );

scenario('a pod that is removed at any moment of its start leaves nothing, and what takes its place runs', async (it) => {
  await pullFirst(it);
  const all = pods();
  for (let ms = 0; ms <= START_MS; ms += LATENCY_MS) {
    it.declare(...all);
    await it.advance(ms + 1);
    await clear(it);
    it.declare(...all);
    await it.advance(ms + 1);
    const others = all.map((pod) => edited(pod, `${pod.metadata.uid}-${ms}`));
    it.declare(...others);
    await it.advance(120_000);
    assertStartedOnce(it, others, `edited after ${ms} ms`);
    await clear(it);
  }
});

scenario('a container whose spec changes at any moment of its start runs as it is by then', async (it) => {
  await pullFirst(it);
  const pod = aPodThat('web');
  for (let ms = 0; ms <= START_MS; ms += LATENCY_MS) {
    const [before, after] = ['old', 'new'].map((value) => ({
      ...pod,
      spec: { ...pod.spec, containers: [server('app', { image: 'busybox:1.35', env: [{ name: 'VALUE', value }] })] },
    }));
    assert.ok(before && after);
    it.declare(before);
    await it.advance(ms + 1);
    it.declare(after);
    await it.advance(60_000);
    const { role } = it.one('web/app');
    const hash = role.kind === 'container' ? role.specHash : undefined;
    assert.equal(it.world().length, 2 + it.one('web/app').attempt, `changed after ${ms} ms`);
    await clear(it);
    it.declare(after);
    await it.advance(1000);
    const fresh = it.one('web/app').role;
    assert.equal(hash, fresh.kind === 'container' ? fresh.specHash : undefined, `changed after ${ms} ms`);
    await clear(it);
  }
});

scenario('a pod that is over keeps nothing that was created for a start that never came', async (it) => {
  await pullFirst(it);
  it.engine.controls.fail('startContainer', new Error('no space left on device'), 100);
  const pod = aPodThat('late', { activeDeadlineSeconds: 20 });
  it.declare(pod);
  await it.advance(10_000);
  assert.deepEqual(
    it.world().map(({ name, state }) => [name, state.phase]),
    [
      ['POD', 'running'],
      ['app', 'created'],
    ],
  );
  await it.advance(30_000);
  assert.equal(it.status(pod)?.reason, 'DeadlineExceeded');
  assert.deepEqual(
    it.world().map(({ name }) => name),
    ['POD'],
  );
});
