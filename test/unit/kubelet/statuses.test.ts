import assert from 'node:assert/strict';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import { aPodThat, server, worker } from '../../builders/pods-that.ts';
import { scenario } from '../../fakes/scenario.ts';

scenario('a failed pull is told as such, and soon after as one that backs off', async (it) => {
  const pod = aPodThat('web', { containers: [server('app', { image: 'registry/gone:1' })] }, { app: 'pull=fail:no_such_image' });
  const waiting = () => it.status(pod)?.containerStatuses?.[0]?.state?.waiting;
  const told: (string | undefined)[] = [];
  const watching = it.agent.statuses.changes.subscribe(() => told.push(waiting()?.reason));
  it.declare(pod);
  await it.advance(3000);
  watching.unsubscribe();
  assert.deepEqual([...new Set(told)], ['ContainerCreating', 'ErrImagePull', 'ImagePullBackOff']);
  assert.deepEqual(waiting(), {
    reason: 'ImagePullBackOff',
    message: 'Back-off pulling image "registry/gone:1": ErrImagePull: no_such_image',
  });
  const asked = it.engine.controls.calls('pullImage');
  await it.advance(6000);
  assert.equal(it.engine.controls.calls('pullImage'), asked, 'nobody asks before the back-off is over');
  assert.equal(waiting()?.reason, 'ImagePullBackOff');
  await it.advance(3000);
  assert.equal(it.engine.controls.calls('pullImage'), asked + 1);
});

scenario('a pod over its deadline is told to have failed when its containers have ended, not before', async (it) => {
  const pod = aPodThat('late', { activeDeadlineSeconds: 10, terminationGracePeriodSeconds: 20 }, { app: 'term=ignore' });
  it.declare(pod);
  await it.advance(15_000);
  assert.deepEqual(it.running(), ['late/POD', 'late/app']);
  assert.deepEqual([it.status(pod)?.phase, it.status(pod)?.reason], ['Running', undefined]);
  await it.advance(20_000);
  assert.deepEqual(it.running(), []);
  assert.deepEqual([it.status(pod)?.phase, it.status(pod)?.reason], ['Failed', 'DeadlineExceeded']);
});

scenario('a pod whose work is done is told to have ended when its last ephemeral container has', async (it) => {
  const pod = aPodThat('job', { restartPolicy: 'Never' }, { app: 'exit=0 after=10s', debug: 'term=ignore' });
  it.declare(pod);
  await it.advance(1000);
  it.declare({ ...pod, spec: { ...pod.spec, ephemeralContainers: [server('debug')] } });
  await it.advance(20_000);
  assert.deepEqual(it.running(), ['job/POD', 'job/debug']);
  assert.equal(it.status(pod)?.phase, 'Running');
  await it.advance(30_000);
  assert.equal(it.status(pod)?.phase, 'Succeeded');
});

scenario('restarts are counted on when somebody has removed what there was of a container', async (it) => {
  const pod = aPodThat('web');
  it.declare(pod);
  await it.advance(1000);
  it.kill('web/app');
  await it.advance(1000);
  const count = () => it.status(pod)?.containerStatuses?.[0]?.restartCount;
  assert.equal(count(), 1);
  const { signal } = new AbortController();
  const all = it.world().filter(({ role }) => role.kind === 'container');
  const removed = all.map(({ id }) => it.engine.runtime.removeContainer(id as ContainerId, signal));
  await it.advance(11_000);
  await Promise.all(removed);
  assert.equal(count(), 2);
});

scenario('a pod whose image is not signed is told that first, and then that it backs off', async (it) => {
  const pod = aPodThat('web', { containers: [server('app', { image: 'registry/app:1' })] }, { app: 'pull=fail:SignatureValidationFailed' });
  const told: (string | undefined)[] = [];
  it.agent.statuses.changes.subscribe(({ status }) => told.push(status.containerStatuses?.[0]?.state?.waiting?.reason));
  it.declare(pod);
  await it.advance(3000);
  assert.deepEqual([...new Set(told)], ['ContainerCreating', 'SignatureValidationFailed', 'ImagePullBackOff']);
});

scenario('a pod is told to be ready to start containers once its sandbox runs, and not any more once that is gone', async (it) => {
  const pod = aPodThat('web', { restartPolicy: 'Never', containers: [worker('work', 5)] }, {}, { generation: 3 });
  const told: unknown[] = [];
  it.agent.statuses.changes.subscribe(({ status: { conditions } }) => {
    const found = conditions?.find(({ type }) => type === 'PodReadyToStartContainers');
    if (found?.status !== told.at(-1)) told.push(found?.status);
    assert.equal(found?.observedGeneration, 3);
  });
  it.engine.controls.fail('runSandbox', new Error('no address is left'), 2);
  it.declare(pod);
  await it.advance(60_000);
  assert.deepEqual(told, ['False', 'True', 'False']);
  assert.equal(it.status(pod)?.conditions?.[0]?.type, 'PodReadyToStartContainers');
});

scenario('containers tell as whom they run, and what stops them where they ask for that', async (it) => {
  const stopped = { lifecycle: { stopSignal: 'SIGUSR1' } };
  const pod = aPodThat('web', {
    securityContext: { runAsUser: 7 },
    containers: [server('a', stopped), worker('b', 1)],
    restartPolicy: 'Never',
  });
  it.declare(pod);
  await it.advance(10_000);
  assert.deepEqual(
    it.status(pod)?.containerStatuses?.map(({ user, stopSignal }) => [user, stopSignal]),
    [
      [{ linux: { uid: 7, gid: 0 } }, 'SIGUSR1'],
      [{ linux: { uid: 7, gid: 0 } }, undefined],
    ],
  );
});
