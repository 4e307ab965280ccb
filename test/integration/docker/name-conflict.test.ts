import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { EngineUnavailableError } from '../../../src/engines/docker/client/engine-errors.ts';
import { SandboxImageMissingError } from '../../../src/model/sandbox-image-missing-error.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { DockerPods } from '../../builders/docker-pods.ts';
import { dockerUnderTest, testEndpoint } from '../../builders/docker-under-test.ts';
import { UnixSocketProxy } from '../../fakes/unix-socket-proxy.ts';
import { aDockerRuntime } from '../../builders/docker-parts.ts';

describe('a name that is taken', () => {
  let proxy: UnixSocketProxy;
  let pods: DockerPods;
  beforeEach(async () => {
    proxy = await UnixSocketProxy.start(testEndpoint.replace('unix://', ''));
    pods = new DockerPods(await dockerUnderTest({ endpoint: `unix://${proxy.path}` }));
  });
  afterEach(async () => {
    await pods.clean();
    await proxy.close();
  });
  const observe = (pod: ReturnType<DockerPods['pod']>) => pods.docker.runtime.observePod(pod.metadata.uid, pods.signal);

  for (const [what, path] of [
    ['create', '/containers/create'],
    ['start', '/start'],
  ] as const)
    test(`by a sandbox whose ${what} was answered into a dead connection: adopted`, async () => {
      const pod = pods.pod();
      proxy.loseAnswerTo(path);
      await assert.rejects(pods.runSandbox(pod), (error) => error instanceof Error && error.cause instanceof EngineUnavailableError);
      const [before] = (await observe(pod)).sandboxes;
      const id = await pods.runSandbox(pod);
      assert.deepEqual((await observe(pod)).sandboxes.map((s) => [s.id, s.ready]), [[id, true]]); // prettier-ignore
      assert.equal(id, before?.id);
    });

  for (const [what, path, phase] of [
    ['create', '/containers/create', 'created'],
    ['start', '/start', 'running'],
  ] as const)
    test(`by a container whose ${what} was answered into a dead connection: ${phase === 'created' ? 'replaced' : 'adopted'}`, async () => {
      const app = pods.container('app');
      const pod = pods.pod([app]);
      const sandbox = await pods.runSandbox(pod);
      proxy.loseAnswerTo(path);
      await assert.rejects(pods.start(pod, sandbox, app));
      const [before] = (await observe(pod)).containers;
      assert.equal(before?.state.phase, phase);
      const id = await pods.start(pod, sandbox, app);
      assert.deepEqual((await observe(pod)).containers.map((c) => [c.id, c.state.phase]), [[id, 'running']]); // prettier-ignore
      assert.equal(id === before?.id, phase === 'running');
    });

  test('by a container of the same spec that has run to its end: not run twice', async () => {
    const app = pods.container('app', { command: ['true'] });
    const pod = pods.pod([app]);
    const sandbox = await pods.runSandbox(pod);
    const first = await pods.start(pod, sandbox, app);
    await pods.docker.runtime.stopContainer(first, 1000, pods.signal);
    const { StartedAt } = (await pods.inspect(first)).State;
    assert.equal(await pods.start(pod, sandbox, app), first);
    assert.equal((await pods.inspect(first)).State.StartedAt, StartedAt);
  });

  test('by a stranger: replaced', async () => {
    const app = pods.container('app');
    const pod = pods.pod([app]);
    const { name, uid } = pod.metadata;
    const stranger = await pods.create(`k8s_app_${name}_default_${uid}_0`, { 'io.kubernetes.pod.uid': uid });
    const id = await pods.start(pod, await pods.runSandbox(pod), app);
    assert.notEqual(id, stranger);
    await assert.rejects(pods.inspect(stranger));
  });

  test('by a container of another sandbox: replaced', async () => {
    const app = pods.container('app');
    const pod = pods.pod([app]);
    const first = await pods.runSandbox(pod, 0);
    const old = await pods.start(pod, first, app);
    await pods.docker.runtime.stopSandbox(first, pods.signal);
    const second = await pods.runSandbox(pod, 1);
    const id = await pods.start(pod, second, app);
    assert.notEqual(id, old);
    assert.equal((await pods.inspect(id)).HostConfig.NetworkMode, `container:${second}`);
  });
});

test('a sandbox whose image is missing rejects with the image to pull', async () => {
  const pods = new DockerPods(await dockerUnderTest());
  const { client } = pods.docker;
  const image = 'rxlet-test/absent:1';
  const runtime = aDockerRuntime(client, systemClock, { podInfraContainerImage: image });
  try {
    await assert.rejects(runtime.runSandbox(pods.pod(), { attempt: 0, hostname: 'x' }, pods.signal), (error) => {
      assert.ok(error instanceof SandboxImageMissingError);
      assert.equal(error.image, image);
      assert.match(
        error.message,
        /^failed to create a sandbox for pod "it-.*": Error response from daemon: No such image: rxlet-test\/absent:1$/,
      );
      return true;
    });
  } finally {
    await pods.clean();
  }
});
