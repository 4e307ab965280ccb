import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AgentUnderTest } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

describe("a pod's life", { timeout: 400_000 }, () => {
  test('begins with its init containers, one after the other, and then its app containers', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const volumeMounts = [{ name: 'v', mountPath: '/v' }];
    const initContainers = ['first', 'second', 'third'].map((name) => app(`sleep 0.2; echo ${name} >> /v/order`, { name, volumeMounts }));
    const both = pod([app(`grep -c . /v/order | grep -q 3 || exit 9; ${stays}`, { volumeMounts }), app(stays, { name: 'side' })], {
      initContainers,
      volumes: [{ name: 'v', emptyDir: {} }],
    });
    await agent.declare('steps', both);
    await agent.up('steps', ['app', 'side']);
    const seen = agent.engine.events
      .filter(({ action, container }) => container !== 'POD' && (action === 'start' || action === 'die'))
      .map(({ action, container }) => `${container} ${action}`);
    assert.deepEqual(seen.slice(0, 6), ['first start', 'first die', 'second start', 'second die', 'third start', 'third die']);
    assert.deepEqual(new Set(seen.slice(6)), new Set(['app start', 'side start']));
    assert.equal(agent.lines.filter(({ msg, to }) => msg === 'pod phase changed' && to === 'Pending').length, 1);
    await agent.phase('steps', 'Running');
  });

  test('waits for an init container that fails, and fails with it when nothing is to be restarted', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const initContainers = [app('exit 4', { name: 'setup' })];
    await agent.declare('never', pod([app()], { initContainers, restartPolicy: 'Never' }));
    await agent.declare(
      'again',
      pod([app()], {
        initContainers: [
          app('[ -e /v/tried ] || { touch /v/tried; exit 5; }', { name: 'setup', volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
        ],
        volumes: [{ name: 'v', emptyDir: {} }],
      }),
    );
    await agent.phase('never', 'Failed');
    await agent.up('again');
    const started = agent.engine.events.filter(({ action, pod: of }) => action === 'start' && of === agent.pod('never'));
    assert.deepEqual(
      started.map(({ container }) => container),
      ['POD', 'setup'],
    );
    const tries = agent.engine.events.filter(
      ({ action, container, pod: of }) => action === 'start' && container === 'setup' && of === agent.pod('again'),
    );
    assert.deepEqual(
      tries.map(({ attempt }) => attempt),
      [0, 1],
    );
  });

  test('has its sidecar from before the app until after it', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const initContainers = [app(stays, { name: 'sidecar', restartPolicy: 'Always' }), app('exit 0', { name: 'setup' })];
    await agent.declare('served', pod([app(`trap 'sleep 1; exit 0' TERM; while :; do sleep 1000 & wait $!; done`)], { initContainers }));
    const { sidecar } = await agent.up('served', ['app', 'sidecar']);
    assert.ok(sidecar);
    await agent.engine.kill(sidecar.id);
    await agent.until('the sidecar is back', async () => (await agent.up('served', ['app', 'sidecar']))['sidecar']?.attempt === 1);
    await agent.remove('served');
    await agent.gone('served');
    const seen = agent.engine.events
      .filter(({ action, container }) => container !== 'POD' && (action === 'start' || action === 'die'))
      .map(({ action, container }) => `${container} ${action}`);
    assert.deepEqual(seen, [
      'sidecar start',
      'setup start',
      'setup die',
      'app start',
      'sidecar die',
      'sidecar start',
      'app die',
      'sidecar die',
    ]);
  });

  test('ends as Failed when a container of restart policy Never fails, and as Succeeded when none does; neither starts again', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('bad', pod([app('exit 1')], { restartPolicy: 'Never' }));
    await agent.declare('good', pod([app('exit 0')], { restartPolicy: 'Never' }));
    await agent.declare('done', pod([app('exit 0')], { restartPolicy: 'OnFailure' }));
    await Promise.all([agent.phase('bad', 'Failed'), agent.phase('good', 'Succeeded'), agent.phase('done', 'Succeeded')]);
    for (const [name, code] of [
      ['bad', 1],
      ['good', 0],
      ['done', 0],
    ] as const) {
      const ended = (await agent.containers(name)).find(({ container }) => container === 'app');
      assert.ok(ended);
      assert.equal((await agent.engine.inspect(ended.id)).State.ExitCode, code);
      assert.equal(
        agent.engine.events.filter(({ action, container, pod: of }) => action === 'start' && container === 'app' && of === agent.pod(name))
          .length,
        1,
      );
    }
  });

  test('goes on when a container fails (OnFailure) or ends at all (Always): once at once, the second time after 10 s; the exit code is kept', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('crashes', pod([app('exit 7')], { restartPolicy: 'OnFailure' }));
    await agent.declare('ends', pod([app('exit 0')], { restartPolicy: 'Always' }));
    for (const name of ['crashes', 'ends']) {
      const starts = await agent.until(`three starts of ${name}`, () => {
        const found = agent.engine.events.filter(
          ({ action, container, pod: of }) => action === 'start' && container === 'app' && of === agent.pod(name),
        );
        return found.length >= 3 && found;
      });
      const deaths = agent.engine.events.filter(
        ({ action, container, pod: of }) => action === 'die' && container === 'app' && of === agent.pod(name),
      );
      const [first, second, third] = starts;
      assert.ok(first && second && third);
      assert.deepEqual(
        starts.map(({ attempt }) => attempt),
        [0, 1, 2],
      );
      const waits = [second, third].map(({ atMs }, i) => atMs - (deaths[i]?.atMs ?? Number.NaN));
      t.diagnostic(`${name}: restarted after ${waits.map(Math.round).join(' and ')} ms`);
      assert.ok(waits[0] !== undefined && waits[0] < 5_000, `the first restart after ${waits[0]} ms`);
      assert.ok(waits[1] !== undefined && waits[1] >= 9_500 && waits[1] < 20_000, `the second restart after ${waits[1]} ms`);
    }
    // One that has ended is removed once the next one has.
    const { State } = await agent.until('a container that has crashed', async () => {
      const crashed = (await agent.containers('crashes')).find(({ container, state }) => container === 'app' && state === 'exited');
      return crashed && (await agent.engine.inspect(crashed.id).catch(() => undefined));
    });
    assert.equal(State.ExitCode, 7);
    assert.ok(
      agent.lines.some((line) => JSON.stringify(line).includes('back-off')),
      'the log says that it backs off',
    );
  });

  test('ends at its active deadline, as Failed, and does not start again', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('late', pod([app()], { activeDeadlineSeconds: 3 }));
    await agent.up('late');
    await agent.phase('late', 'Failed');
    await agent.until('nothing of it runs', async () => (await agent.containers('late')).every(({ state }) => state !== 'running'));
    const events = agent.engine.events.filter(({ container }) => container === 'app');
    const [first, die] = [agent.engine.events[0], events.find(({ action }) => action === 'die')];
    assert.ok(first && die);
    t.diagnostic(`ended after ${Math.round(die.atMs - first.atMs)} ms`);
    // The deadline counts from the pod's start, which is before its sandbox is made.
    assert.ok(die.atMs - first.atMs >= 1_000 && die.atMs - first.atMs < 15_000);
    assert.equal(events.filter(({ action }) => action === 'start').length, 1);
  });

  test('ends by force when a container ignores SIGTERM: after its grace period, with 137', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('deaf', pod([app("trap '' TERM; while :; do sleep 1; done")], { terminationGracePeriodSeconds: 3 }));
    const { app: deaf } = await agent.up('deaf');
    assert.ok(deaf);
    const exit = agent.engine.exitCode(deaf.id);
    await agent.remove('deaf');
    assert.equal(await exit, 137);
    await agent.gone('deaf');
    const killing = agent.lines.find(({ reason }) => reason === 'Killing');
    const died = agent.engine.events.find(({ action, id }) => action === 'die' && id === deaf.id);
    assert.ok(killing && died);
    const tookMs = died.atMs - Number(killing['ts']) * 1000;
    t.diagnostic(`killed after ${Math.round(tookMs)} ms`);
    assert.ok(tookMs >= 2_900 && tookMs < 10_000, `${tookMs} ms`);
  });

  test('ends at once when its containers heed SIGTERM, whatever the grace period', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare(
      'polite',
      pod([app("trap 'exit 3' TERM; while :; do sleep 1000 & wait $!; done")], { terminationGracePeriodSeconds: 60 }),
    );
    const { app: polite } = await agent.up('polite');
    assert.ok(polite);
    const exit = agent.engine.exitCode(polite.id);
    await agent.remove('polite');
    assert.equal(await exit, 3);
    await agent.gone('polite');
    assert.deepEqual(await agent.traces(), []);
  });
});
