import assert from 'node:assert/strict';
import { aPodThat, server, worker } from '../../builders/pods-that.ts';
import { scenario } from '../../fakes/scenario.ts';

scenario(
  'after activeDeadlineSeconds everything is stopped, the pod has failed with DeadlineExceeded, and nothing starts again',
  async (it) => {
    const pod = aPodThat('late', { activeDeadlineSeconds: 10, containers: [server('a'), server('b')] });
    it.declare(pod);
    await it.advance(9000);
    assert.equal(it.running().length, 3);
    await it.advance(3000);
    assert.deepEqual(it.running(), []);
    const { phase, reason } = it.status(pod) ?? {};
    assert.deepEqual({ phase, reason }, { phase: 'Failed', reason: 'DeadlineExceeded' });
    await it.advance(600_000);
    assert.equal(it.story('started').length, 2);
  },
);

scenario('a deadline also ends a pod whose image is never pulled', async (it) => {
  const pod = aPodThat('late', { activeDeadlineSeconds: 10 });
  it.engine.controls.scriptPull('busybox:1.35', { kind: 'hang' });
  it.declare(pod);
  await it.advance(75_000);
  assert.equal(it.status(pod)?.reason, 'DeadlineExceeded');
  assert.deepEqual(it.running(), []);
});

for (const restartPolicy of ['Never', 'OnFailure']) {
  scenario(`a pod that has succeeded keeps no sandbox and is never restarted, with restart policy ${restartPolicy}`, async (it) => {
    const pod = aPodThat('job', { restartPolicy, containers: [worker('a', 1), worker('b', 3)] });
    it.declare(pod);
    await it.advance(10_000);
    assert.equal(it.status(pod)?.phase, 'Succeeded');
    assert.deepEqual(it.running(), []);
    await it.advance(600_000);
    assert.deepEqual(it.story('started'), ['started job/a', 'started job/b']);
  });
}

scenario('with restart policy OnFailure only what failed runs again', async (it) => {
  const pod = aPodThat(
    'job',
    { restartPolicy: 'OnFailure', containers: [worker('good', 1), worker('bad', 1)] },
    { bad: 'exit=2,0 after=1s' },
  );
  it.declare(pod);
  await it.advance(30_000);
  assert.deepEqual(it.story('started'), ['started job/good', 'started job/bad', 'started job/bad']);
  assert.equal(it.status(pod)?.phase, 'Succeeded');
});

scenario('a removed pod has its grace period to end, and is killed after it', async (it) => {
  it.declare(
    aPodThat('polite', { terminationGracePeriodSeconds: 20 }),
    aPodThat('deaf', { terminationGracePeriodSeconds: 20 }, { app: 'term=ignore' }),
  );
  await it.advance(1000);
  it.declare();
  await it.advance(60_000);
  const [polite = 0] = it.times('ended', 'polite/app');
  const [deaf = 0] = it.times('ended', 'deaf/app');
  assert.ok(polite - 1000 < 100, `${polite}`);
  assert.equal(Math.round((deaf - 1000) / 1000), 20);
  assert.deepEqual(it.world(), []);
});

scenario('a pod removed during an image pull: the pull is stopped and nothing is left', async (it) => {
  it.engine.controls.scriptPull('busybox:1.35', { kind: 'slow', ms: 40_000 });
  it.declare(aPodThat('web'));
  await it.advance(5000);
  assert.deepEqual(it.running(), ['web/POD']);
  it.declare();
  await it.advance(1000);
  assert.deepEqual(it.world(), []);
  await it.advance(120_000);
  const image = it.engine.images.inspectImage('busybox:1.35', new AbortController().signal);
  await it.advance(100);
  assert.equal(await image, undefined);
});

scenario('a pod removed while its container is being started leaves nothing', async (it) => {
  it.declare(aPodThat('web'));
  for (let ms = 0; ms < 400; ms += 20) {
    await it.advance(20);
    it.declare();
    await it.advance(2000);
    assert.deepEqual(it.world(), [], `removed after ${ms} ms`);
    it.declare(aPodThat('web'));
  }
});

scenario('after pods have ended nothing of them is left in memory: no wake, no record, no call but the relist', async (it) => {
  it.declare(
    aPodThat('a'),
    aPodThat('b', {}, { app: 'exit=1 after=2s' }),
    aPodThat('c', { restartPolicy: 'Never', containers: [worker('w', 1)] }),
  );
  await it.advance(60_000);
  it.declare();
  await it.advance(60_000);
  assert.deepEqual(it.world(), []);
  const records = it.records.length;
  const observed = it.engine.controls.calls('observePod');
  await it.advance(600_000);
  assert.equal(it.records.length, records);
  assert.equal(it.engine.controls.calls('observePod'), observed);
  assert.equal(it.clock.actions.length, 1, 'only the next relist waits');
  for (const name of ['a', 'b', 'c']) assert.equal(it.status(aPodThat(name)), undefined);
});
