import assert from 'node:assert/strict';
import type { Pod, PodSpec } from '../../../src/model/pod.ts';
import { aPodThat, server } from '../../builders/pods-that.ts';
import { scenario } from '../../fakes/scenario.ts';

const debug = server('debug');
/** The pod as it was, with an ephemeral container that has been added to it. */
const debugged = (pod: Pod, over: Partial<NonNullable<PodSpec['ephemeralContainers']>[number]> = {}): Pod => ({
  ...pod,
  spec: { ...pod.spec, ephemeralContainers: [{ ...debug, ...over }] },
});

scenario('an ephemeral container is started beside what runs, once, and its end changes nothing', async (it) => {
  const pod = aPodThat('web', {}, { debug: 'exit=3 after=5s' });
  it.declare(pod);
  await it.advance(1000);
  const app = it.one('web/app').id;
  it.declare(debugged(pod));
  await it.advance(1000);
  assert.deepEqual(it.running(), ['web/POD', 'web/app', 'web/debug']);
  assert.ok(it.status(pod)?.ephemeralContainerStatuses?.[0]?.state?.running);
  await it.advance(600_000);
  assert.deepEqual(it.story('started'), ['started web/app', 'started web/debug']);
  assert.equal(it.one('web/app').id, app);
  const status = it.status(pod);
  assert.equal(status?.phase, 'Running');
  assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
  assert.equal(status?.ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode, 3);
  assert.equal(status?.ephemeralContainerStatuses?.[0]?.restartCount, 0);
});

scenario('an ephemeral container runs while init containers do, and a restarted agent does not run it again', async (it) => {
  const pod = aPodThat('web', { initContainers: [server('wait')] }, { debug: 'exit=0 after=5s' });
  it.declare(pod);
  await it.advance(1000);
  it.declare(debugged(pod));
  await it.advance(1000);
  assert.deepEqual(it.running(), ['web/POD', 'web/debug', 'web/wait']);
  await it.advance(10_000);
  await it.restartAgent();
  it.declare(debugged(pod));
  await it.advance(60_000);
  assert.deepEqual(it.story('started'), ['started web/wait', 'started web/debug']);
});

scenario('an ephemeral container that cannot start waits with its reason, and holds nobody back', async (it) => {
  const pod = aPodThat('web');
  it.declare(pod);
  await it.advance(1000);
  it.declare(debugged(pod, { targetContainerName: 'nobody' }));
  await it.advance(1000);
  assert.deepEqual(it.running(), ['web/POD', 'web/app']);
  const waiting = it.status(pod)?.ephemeralContainerStatuses?.[0]?.state?.waiting;
  assert.deepEqual(waiting, { reason: 'CreateContainerConfigError', message: 'unable to find target container nobody' });
  it.kill('web/app');
  await it.advance(1000);
  assert.deepEqual(it.running(), ['web/POD', 'web/app']);
});

scenario('a pod that has done its work ends, and its ephemeral container with it', async (it) => {
  const pod = aPodThat('job', { restartPolicy: 'Never' }, { app: 'exit=0 after=10s' });
  it.declare(pod);
  await it.advance(1000);
  it.declare(debugged(pod));
  await it.advance(1000);
  assert.deepEqual(it.running(), ['job/POD', 'job/app', 'job/debug']);
  await it.advance(60_000);
  assert.deepEqual(it.running(), []);
  assert.equal(it.status(pod)?.phase, 'Succeeded');
});
