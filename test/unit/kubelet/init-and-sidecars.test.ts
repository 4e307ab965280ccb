import assert from 'node:assert/strict';
import { aPodThat, server, sidecar, worker } from '../../builders/pods-that.ts';
import { scenario } from '../../fakes/scenario.ts';

scenario('init containers run one after the other, each to its end, and then all app containers', async (it) => {
  it.declare(aPodThat('web', { initContainers: [worker('first', 2), worker('second', 3)], containers: [server('a'), server('b')] }));
  await it.advance(10_000);
  assert.deepEqual(it.story('started', 'ended'), [
    'started web/first',
    'ended web/first',
    'started web/second',
    'ended web/second',
    'started web/a',
    'started web/b',
  ]);
});

scenario('a failing init container with restart policy Never fails the pod, and no app container ever starts', async (it) => {
  const pod = aPodThat('web', { restartPolicy: 'Never', initContainers: [worker('init', 1, 4), worker('next', 1)] });
  it.declare(pod);
  await it.advance(120_000);
  assert.deepEqual(it.story('started'), ['started web/init']);
  assert.deepEqual(it.running(), []);
  assert.equal(it.status(pod)?.phase, 'Failed');
  assert.equal(it.status(pod)?.initContainerStatuses?.[0]?.state?.terminated?.exitCode, 4);
});

for (const restartPolicy of ['OnFailure', 'Always']) {
  scenario(`a failing init container with restart policy ${restartPolicy} is tried again, with back-off, until it works`, async (it) => {
    const pod = aPodThat('web', { restartPolicy, initContainers: [worker('init', 1)] }, { init: 'exit=1,1,0 after=1s' });
    it.declare(pod);
    await it.advance(5000);
    assert.equal(it.status(pod)?.phase, 'Pending');
    assert.equal(it.status(pod)?.initContainerStatuses?.[0]?.state?.waiting?.reason, 'CrashLoopBackOff');
    await it.advance(20_000);
    assert.deepEqual(it.story('started'), ['started web/init', 'started web/init', 'started web/init', 'started web/app']);
    assert.equal(it.status(pod)?.phase, 'Running');
  });
}

const withSidecars = (over: Parameters<typeof aPodThat>[1] = {}) =>
  aPodThat('web', { initContainers: [sidecar('one'), worker('init', 2), sidecar('two')], containers: [server('app')], ...over });

scenario('sidecars start in their turn and stay, while the next init container goes on', async (it) => {
  it.declare(withSidecars());
  await it.advance(10_000);
  assert.deepEqual(it.story('started', 'ended'), [
    'started web/one',
    'started web/init',
    'ended web/init',
    'started web/two',
    'started web/app',
  ]);
  assert.equal(it.status(withSidecars())?.phase, 'Running');
});

scenario('a sidecar that ends is started again, whatever the restart policy and its exit code', async (it) => {
  for (const restartPolicy of ['Never', 'OnFailure', 'Always']) {
    const pod = aPodThat(restartPolicy.toLowerCase(), { restartPolicy, initContainers: [sidecar('proxy')] });
    it.declare(pod);
    await it.advance(5000);
    it.kill(`${pod.metadata.name}/proxy`, 0);
    await it.advance(2000);
    assert.equal(it.one(`${pod.metadata.name}/proxy`).attempt, 1);
    assert.equal(it.one(`${pod.metadata.name}/app`).attempt, 0);
  }
});

scenario('when the pod is removed its sidecars end after the app containers, the last one first', async (it) => {
  it.declare(withSidecars());
  await it.advance(10_000);
  it.declare();
  await it.advance(60_000);
  assert.deepEqual(it.story('ended'), ['ended web/init', 'ended web/app', 'ended web/two', 'ended web/one']);
  assert.deepEqual(it.world(), []);
});

scenario('when the app containers of a job have ended its sidecars are stopped, and the pod has succeeded', async (it) => {
  const pod = withSidecars({ restartPolicy: 'OnFailure', containers: [worker('app', 3)] });
  it.declare(pod);
  await it.advance(60_000);
  assert.deepEqual(it.story('ended'), ['ended web/init', 'ended web/app', 'ended web/two', 'ended web/one']);
  assert.deepEqual(it.running(), []);
  assert.equal(it.status(pod)?.phase, 'Succeeded');
});

scenario('deaf sidecars do not make a pod outlive its grace period', async (it) => {
  const pod = aPodThat(
    'web',
    { initContainers: [sidecar('one'), sidecar('two')], terminationGracePeriodSeconds: 6 },
    { one: 'term=ignore', two: 'term=ignore', app: 'term=ignore' },
  );
  it.declare(pod);
  await it.advance(5000);
  const beganAtMs = it.clock.now();
  it.declare();
  await it.advance(60_000);
  const endedAtMs = Math.max(...it.times('ended', 'web/one'), ...it.times('ended', 'web/two'));
  // Two seconds, the least that a SIGTERM gets, come on top for what waited.
  assert.ok(endedAtMs - beganAtMs <= 9000, `${endedAtMs - beganAtMs} ms`);
  assert.deepEqual(it.world(), []);
});

scenario('in a new sandbox initialization begins anew', async (it) => {
  it.declare(withSidecars());
  await it.advance(10_000);
  const before = it.history.length;
  it.kill('web/POD');
  await it.advance(60_000);
  assert.deepEqual(
    it.history
      .slice(before)
      .filter(({ what, part }) => what === 'started' && part.name !== 'POD')
      .map(({ part }) => part.name),
    ['one', 'init', 'two', 'app'],
  );
});
