import assert from 'node:assert/strict';
import { aPodThat, edited, server, sidecar, worker } from '../../builders/pods-that.ts';
import { scenario } from '../../fakes/scenario.ts';

scenario('a restarted agent restarts and removes nothing, and has the statuses back', async (it) => {
  const pods = [
    aPodThat('web', { initContainers: [worker('init', 1), sidecar('proxy')], containers: [server('a'), server('b')] }),
    aPodThat('job', { restartPolicy: 'Never', containers: [worker('work', 1)] }),
    aPodThat('flaky'),
  ];
  it.declare(...pods);
  await it.advance(3000);
  it.kill('flaky/app', 1);
  await it.advance(3000);
  const before = pods.map((pod) => it.status(pod));
  const ids = it.world().map(({ id }) => id);
  assert.deepEqual(
    before.map((status) => status?.phase),
    ['Running', 'Succeeded', 'Running'],
  );
  await it.restartAgent();
  const begun = it.history.length;
  it.declare(...pods);
  await it.advance(500);
  assert.deepEqual(it.history.slice(begun), []);
  assert.deepEqual(
    it.world().map(({ id }) => id),
    ids,
  );
  for (const [index, pod] of pods.entries()) {
    const { phase, startTime, containerStatuses } = it.status(pod) ?? {};
    assert.deepEqual({ phase, startTime, containerStatuses }, pick(before[index]));
  }
});

const pick = ({ phase, startTime, containerStatuses }: { phase?: string; startTime?: string; containerStatuses?: unknown } = {}) => ({
  phase,
  startTime,
  containerStatuses,
});

scenario('orphans are removed only after the source has spoken, and then also when it has nothing to declare', async (it) => {
  it.declare(aPodThat('web'));
  await it.advance(1000);
  await it.restartAgent();
  await it.advance(60_000);
  assert.deepEqual(it.running(), ['web/POD', 'web/app']);
  it.declare();
  await it.advance(5000);
  assert.deepEqual(it.world(), []);
});

scenario('a pod removed while the agent was away ends with the grace period that it was given', async (it) => {
  it.declare(aPodThat('web', { terminationGracePeriodSeconds: 7 }, { app: 'term=ignore' }));
  await it.advance(1000);
  await it.restartAgent();
  it.declare();
  const declaredAtMs = it.clock.now();
  await it.advance(20_000);
  const [endedAtMs = 0] = it.times('ended', 'web/app');
  assert.equal(Math.floor((endedAtMs - declaredAtMs) / 1000), 7);
});

scenario('a pod edited while the agent was away: the old one ends before the new one starts', async (it) => {
  const pod = aPodThat('web', {}, { app: 'term=ignore' });
  it.declare(pod);
  await it.advance(1000);
  await it.restartAgent();
  it.declare(edited(pod, 'uid-web-2'));
  await it.advance(60_000);
  assert.deepEqual(it.story('started', 'ended', 'removed'), ['started web/app', 'ended web/app', 'removed web/app', 'started web/app']);
});

scenario('what vanished from the engine before the source spoke does not keep its name from its successor', async (it) => {
  const pod = aPodThat('web');
  it.declare(pod);
  await it.advance(1000);
  await it.restartAgent();
  await it.advance(1000);
  it.engine.controls.close();
  await it.advance(20_000);
  it.declare(edited(pod, 'uid-web-2'));
  await it.advance(20_000);
  assert.deepEqual(it.running(), ['web/POD', 'web/app']);
});

scenario('of two old pods with one name the running one keeps it until its end', async (it) => {
  const [dead, live] = [
    aPodThat('web', { restartPolicy: 'Never', containers: [worker('app', 1)] }),
    edited(aPodThat('web', {}, { app: 'term=ignore' }), 'uid-live'),
  ];
  it.declare(dead);
  await it.advance(3000);
  await it.stopAgent();
  // As another agent leaves it, which keeps what is dead for a while.
  const signal = new AbortController().signal;
  const { runtime, images } = it.engine;
  const ready = (async () => {
    const imageRef = await images.pullImage('busybox:1.35', undefined, () => {}, signal);
    const { id: sandbox } = await runtime.runSandbox(live, { attempt: 0, hostname: undefined }, signal);
    const [container] = live.spec.containers;
    const spec = { container: container!, attempt: 0, imageRef, env: [], command: undefined, args: undefined, mounts: [] };
    await runtime.startContainer(live, sandbox, spec, signal);
  })();
  await it.advance(1000);
  await ready;
  it.declare(edited(live, 'uid-third'));
  await it.advance(60_000);
  const started = it.times('started', 'web/app').at(-1) ?? 0;
  const ended = it.times('ended', 'web/app').at(-1) ?? 0;
  assert.equal(it.one('web/app').uid, 'uid-third');
  assert.ok(ended <= started, 'the new one starts after the end of the live one');
});

scenario('a finished pod stays finished over an agent restart, whatever its restart policy', async (it) => {
  const pods = [
    aPodThat('never', { restartPolicy: 'Never', containers: [worker('work', 1, 3)] }),
    aPodThat('once', { restartPolicy: 'OnFailure', containers: [worker('work', 1)] }),
    aPodThat('late', { activeDeadlineSeconds: 5 }),
  ];
  it.declare(...pods);
  await it.advance(10_000);
  const phases = () => pods.map((pod) => it.status(pod)?.phase);
  assert.deepEqual(phases(), ['Failed', 'Succeeded', 'Failed']);
  assert.deepEqual(it.running(), []);
  const starts = it.story('started').length;
  await it.restartAgent();
  it.declare(...pods);
  await it.advance(300_000);
  assert.deepEqual(phases(), ['Failed', 'Succeeded', 'Failed']);
  assert.equal(it.story('started').length, starts);
});

scenario('a deadline counts from the first sandbox, also for an agent that has not seen it', async (it) => {
  const pod = aPodThat('late', { activeDeadlineSeconds: 20 });
  it.declare(pod);
  await it.advance(15_000);
  it.kill('late/POD');
  await it.advance(10_000);
  assert.equal(it.status(pod)?.reason, 'DeadlineExceeded');
  await it.restartAgent();
  it.declare(pod);
  await it.advance(1000);
  assert.equal(it.status(pod)?.reason, 'DeadlineExceeded');
  assert.deepEqual(it.running(), []);
});

scenario('of a pod that was Ready, what runs since before the agent is so until it is probed; what starts anew is not', async (it) => {
  const readinessProbe = { exec: { command: ['true'] }, periodSeconds: 60 };
  const pod = aPodThat('web', { containers: [server('app', { readinessProbe: { ...readinessProbe, initialDelaySeconds: 60 } })] });
  const isReady = (): boolean | undefined => it.status(pod)?.containerStatuses?.[0]?.ready;
  it.declare(pod);
  await it.advance(1000);
  assert.equal(isReady(), false);
  await it.restartAgent();
  // As an agent has shown it of which nothing else is left.
  it.declare({ ...pod, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } });
  await it.advance(1000);
  assert.equal(isReady(), true);
  it.kill('web/app', 1);
  await it.advance(30_000);
  assert.deepEqual([it.running(), isReady()], [['web/POD', 'web/app'], false]);
});
