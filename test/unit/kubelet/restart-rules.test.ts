import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod, PodStatus } from '../../../src/model/pod.ts';
import { aPodThat, server, sidecar, worker } from '../../builders/pods-that.ts';
import { agentOnFakeEngine } from '../../fakes/agent-on-fake-engine.ts';
import { type Scenario, scenario } from '../../fakes/scenario.ts';

const on = (code: number, action: string): Pick<Container, 'restartPolicy' | 'restartPolicyRules'> => ({
  restartPolicy: 'Never',
  restartPolicyRules: [{ action, exitCodes: { operator: 'In', values: [code] } }],
});

const restartingOf = (status: PodStatus | undefined): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'AllContainersRestarting')?.status;

const countsOf = (status: PodStatus | undefined): unknown =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(
    ({ name, restartCount }) => `${name} ${restartCount}`,
  );

/** What happened in the engine since then. */
function since(it: Scenario, play: () => void): () => readonly string[] {
  const before = it.story('started', 'ended', 'removed').length;
  play();
  return () => it.story('started', 'ended', 'removed').slice(before);
}

for (const restartPolicy of ['Always', 'Never'])
  scenario(`one end restarts all containers, from initialization on, with restart policy ${restartPolicy}`, async (it) => {
    const pod = aPodThat('web', {
      restartPolicy,
      initContainers: [worker('init', 1), sidecar('proxy')],
      containers: [server('a', on(42, 'RestartAllContainers')), server('b')],
    });
    const conditions: unknown[] = [];
    it.declare(pod);
    await it.advance(10_000);
    it.agent.statuses.changes.subscribe(({ status }) => conditions.push(restartingOf(status)));
    assert.equal(restartingOf(it.status(pod)), 'False');
    const sandbox = it.one('web/POD').id;
    const story = since(it, () => it.kill('web/a', 42));
    await it.advance(5_000);
    assert.deepEqual(it.running(), ['web/POD', 'web/a', 'web/b', 'web/proxy']);
    assert.equal(it.one('web/POD').id, sandbox);
    assert.deepEqual(story().slice(0, 3).sort(), ['ended web/a', 'ended web/b', 'ended web/proxy']);
    // The one that asked for it goes last: an agent that dies meanwhile goes on with that.
    assert.deepEqual(story().slice(3, 7), ['removed web/b', 'removed web/init', 'removed web/proxy', 'removed web/a']);
    assert.deepEqual(story().slice(7), ['started web/init', 'ended web/init', 'started web/proxy', 'started web/a', 'started web/b']);
    assert.deepEqual(countsOf(it.status(pod)), ['init 1', 'proxy 1', 'a 1', 'b 1']);
    for (const { lastState } of it.status(pod)?.containerStatuses ?? [])
      assert.deepEqual([lastState?.terminated?.reason, lastState?.terminated?.exitCode], ['RestartingAllContainers', 137]);
    assert.deepEqual([conditions[0], conditions.at(-1), restartingOf(it.status(pod))], ['True', 'False', 'False']);
    assert.equal(it.status(pod)?.phase, 'Running');
  });

scenario('a pod that restarts all its containers again and again waits in between, and says so', async (it) => {
  const pod = aPodThat('web', { containers: [server('a', on(42, 'RestartAllContainers')), server('b')] });
  it.declare(pod);
  await it.advance(1000);
  it.kill('web/a', 42);
  await it.advance(3000);
  assert.deepEqual(it.running(), ['web/POD', 'web/a', 'web/b'], 'at once for the first time');
  it.kill('web/a', 42);
  await it.advance(3000);
  assert.deepEqual(it.running(), ['web/POD', 'web/b']);
  const [a] = it.status(pod)?.containerStatuses ?? [];
  assert.equal(a?.state?.waiting?.reason, 'CrashLoopBackOff');
  await it.advance(10_000);
  assert.deepEqual(it.running(), ['web/POD', 'web/a', 'web/b']);
  assert.deepEqual(countsOf(it.status(pod)), ['a 2', 'b 2']);
});

scenario('an agent that dies while it removes all containers leaves the next one enough to go on', async (it) => {
  const pod = aPodThat('web', {
    restartPolicy: 'Never',
    containers: [server('a', on(42, 'RestartAllContainers')), server('b'), server('c')],
  });
  it.declare(pod);
  await it.advance(1000);
  const stopped = new Promise<void>((resolve) => {
    it.onMoment = ({ what, part }) => {
      if (what === 'removed' && part.name === 'b') resolve(it.stopAgent());
    };
  });
  it.kill('web/a', 42);
  await it.advance(1000);
  await stopped;
  it.onMoment = () => {};
  assert.deepEqual(it.running(), ['web/POD']);
  await it.restartAgent();
  it.declare(pod);
  await it.advance(60_000);
  assert.deepEqual(it.running(), ['web/POD', 'web/a', 'web/b', 'web/c']);
  assert.equal(it.status(pod)?.phase, 'Running');
});

scenario('a rule restarts its container by the exit code, whatever the policies say, and other ends do not', async (it) => {
  const pod = aPodThat('web', { restartPolicy: 'Never', containers: [server('a', on(3, 'Restart')), server('b')] });
  it.declare(pod);
  await it.advance(1000);
  const { id } = it.one('web/b');
  it.kill('web/a', 3);
  await it.advance(60_000);
  assert.deepEqual([it.one('web/a').attempt, it.one('web/b').id], [1, id]);
  assert.deepEqual(countsOf(it.status(pod)), ['a 1', 'b 0']);
  assert.ok(it.status(pod)?.containerStatuses?.[0]?.state?.running, 'a container that came back is shown');
  it.kill('web/a', 4);
  await it.advance(60_000);
  assert.deepEqual(it.running(), ['web/POD', 'web/b']);
  assert.equal(it.status(pod)?.phase, 'Running');
  it.kill('web/b', 0);
  await it.advance(60_000);
  assert.equal(it.status(pod)?.phase, 'Failed');
});

for (const [own, code, restarts] of [
  ['OnFailure', 1, true],
  ['OnFailure', 0, false],
  ['Always', 0, true],
  ['Never', 1, false],
] as const)
  scenario(
    `a container of restart policy ${own} that ends with ${code} ${restarts ? 'restarts' : 'stays'}, against its pod's`,
    async (it) => {
      const restartPolicy = restarts ? 'Never' : 'Always';
      const pod: Pod = aPodThat('web', { restartPolicy, containers: [server('a', { restartPolicy: own }), server('b')] });
      it.declare(pod);
      await it.advance(1000);
      it.kill('web/a', code);
      await it.advance(60_000);
      assert.deepEqual(it.running(), ['web/POD', ...(restarts ? ['web/a'] : []), 'web/b']);
      assert.deepEqual(countsOf(it.status(pod)), [restarts ? 'a 1' : 'a 0', 'b 0']);
    },
  );

test('no container of a crash loop waits longer than crashLoopBackOff.maxContainerRestartPeriod', async () => {
  const it = agentOnFakeEngine({ options: { maxContainerRestartPeriodMs: 2000 } });
  const restarts = (): number => it.statuses.get(looping.metadata.uid)?.containerStatuses?.[0]?.restartCount ?? 0;
  const looping = aPodThat('web', { containers: [worker('a', 0, 1)] });
  it.declare([looping]);
  await it.clock.advance(60_000);
  // Of 2 s each, and a moment for the start.
  assert.ok(restarts() >= 20 && restarts() <= 30, `restarted ${restarts()} times`);
  await it.close();
});
