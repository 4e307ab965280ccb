import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { silentLogger } from '../../../../src/base/logger.ts';
import { type FakeEngine, fakeEngine } from '../../../../src/engines/fake/fake-engine.ts';
import { ContainerStartError } from '../../../../src/model/container-start-error.ts';
import type { Container, Pod } from '../../../../src/model/pod.ts';
import { RegistryUnavailableError } from '../../../../src/model/registry-unavailable-error.ts';
import type { ContainerId, ContainerSpec, ObservedContainer, SandboxId } from '../../../../src/ports/container-runtime.ts';
import type { PullProgress } from '../../../../src/ports/image-service.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const IMAGE = 'busybox:1.35';
const never = new AbortController().signal;
const noProgress = (): void => {};

describe('the embedded engine', () => {
  let clock: FakeClock;
  let engine: FakeEngine;
  beforeEach(async () => {
    clock = new FakeClock();
    engine = fakeEngine({ clock, log: silentLogger, latencyMs: 0 });
    await engine.images.pullImage(IMAGE, undefined, noProgress, never);
  });
  afterEach(async () => {
    engine.controls.close();
    await clock.advance(600_000);
    assert.equal(clock.actions.length, 0, 'a timer is left');
  });

  const spec = (container: Container, attempt = 0): ContainerSpec => ({
    container,
    attempt,
    imageRef: IMAGE,
    env: [],
    command: container.command,
    args: container.args,
    mounts: [],
  });
  const sleeper = aContainer('app', { command: ['sleep', '1000'] });
  const run = async (pod: Pod, container: Container = sleeper): Promise<{ sandbox: SandboxId; id: ContainerId }> => {
    const { id: sandbox } = await engine.runtime.runSandbox(pod, { attempt: 0, hostname: pod.metadata.name }, never);
    return { sandbox, id: await engine.runtime.startContainer(pod, sandbox, spec(container), never) };
  };
  const observed = async (pod: Pod): Promise<ObservedContainer | undefined> =>
    (await engine.runtime.observePod(pod.metadata.uid, never)).containers[0];
  const annotated = (behaviour: string): Pod =>
    aPod('web', { containers: [sleeper] }, { annotations: { 'fake.rxlet.dev/app': behaviour } });

  test('an annotation overrides the command, by attempt', async () => {
    const pod = annotated('exit=3,0 after=5s');
    const { sandbox } = await run(pod);
    await clock.advance(4999);
    assert.equal((await observed(pod))?.state.phase, 'running');
    await clock.advance(1);
    const state = { startedAtMs: 0, finishedAtMs: 5000, message: '', phase: 'exited' };
    assert.deepEqual((await observed(pod))?.state, { ...state, exitCode: 3, reason: 'Error' });
    await engine.runtime.startContainer(pod, sandbox, spec(sleeper, 1), never);
    await clock.advance(5000);
    assert.deepEqual((await observed(pod))?.state, { ...state, startedAtMs: 5000, finishedAtMs: 10_000, exitCode: 0, reason: 'Completed' });
  });

  for (const [behaviour, reason, phase] of [
    ['create=fail:no space left on device', 'CreateContainerError', undefined],
    ['start=fail:no space left on device', 'RunContainerError', 'exited'],
  ] as const)
    test(`"${behaviour}" rejects with ${reason} and its words`, async () => {
      const pod = annotated(behaviour);
      await assert.rejects(run(pod), (error) => {
        assert.ok(error instanceof ContainerStartError);
        assert.deepEqual([error.reason, error.message], [reason, 'no space left on device']);
        return true;
      });
      assert.equal((await observed(pod))?.state.phase, phase);
    });

  test('an annotation that is not understood is said, and the command decides', async () => {
    const said: unknown[] = [];
    engine = fakeEngine({ clock, log: { ...silentLogger, warn: (message) => said.push(message) }, latencyMs: 0 });
    await engine.images.pullImage(IMAGE, undefined, noProgress, never);
    const pod = annotated('exit=many');
    await run(pod);
    assert.equal((await observed(pod))?.state.phase, 'running');
    assert.deepEqual(said, ['annotation for the embedded engine not understood', 'annotation for the embedded engine not understood']);
  });

  test('a script that is not understood is said, and ends with 2', async () => {
    const said: unknown[] = [];
    engine = fakeEngine({ clock, log: { ...silentLogger, warn: (_, fields) => said.push(fields?.['why']) }, latencyMs: 0 });
    await engine.images.pullImage(IMAGE, undefined, noProgress, never);
    const pod = aPod('web');
    await run(pod, aContainer('app', { command: ['sh', '-c', 'case $1 in a) exit 0;; esac'] }));
    await clock.advance(0);
    const state = (await observed(pod))?.state;
    assert.equal(state?.phase === 'exited' && state.exitCode, 2);
    assert.deepEqual(said, ['unexpected ")"']);
  });

  describe('images', () => {
    test('there are none at first, every registry has every image, and names are one under all their spellings', async () => {
      const { images } = engine;
      assert.equal(await images.inspectImage('nginx', never), undefined);
      const id = await images.pullImage('nginx', undefined, noProgress, never);
      for (const name of ['nginx:latest', 'docker.io/library/nginx', id])
        assert.deepEqual((await images.inspectImage(name, never))?.repoTags, ['nginx:latest'], name);
      assert.equal(await images.inspectImage('nginx:1.25', never), undefined);
    });

    test('a slow pull tells its progress', async () => {
      engine.controls.scriptPull('nginx', { kind: 'slow', ms: 4000 });
      const told: (PullProgress & { readonly atMs: number })[] = [];
      const pull = engine.images.pullImage('nginx', undefined, (p) => told.push({ ...p, atMs: clock.now() }), never);
      await clock.advance(4000);
      await pull;
      assert.deepEqual(
        told.map((p) => [p.atMs, p.layersDone]),
        [
          [0, 0],
          [1000, 1],
          [2000, 2],
          [3000, 3],
          [4000, 4],
        ],
      );
    });

    test('a pull fails, hangs or meets a dead registry as scripted, also by annotation', async () => {
      const { images, controls, runtime } = engine;
      const pull = (): Promise<string> => images.pullImage('nginx', undefined, noProgress, never);
      controls.scriptPull('nginx', { kind: 'fail', message: 'manifest unknown' });
      await assert.rejects(pull(), { message: 'manifest unknown' });
      controls.scriptPull('nginx', { kind: 'hang' });
      const hung = assert.rejects(pull(), { message: 'pull of nginx: no progress for 1m0s' });
      await clock.advance(60_000);
      await hung;
      const app = aContainer('app', { image: 'docker.io/library/nginx' });
      const pod = aPod('web', { containers: [app] }, { annotations: { 'fake.rxlet.dev/app': 'pull=unavailable' } });
      await runtime.runSandbox(pod, { attempt: 0, hostname: 'web' }, never);
      await assert.rejects(pull(), RegistryUnavailableError);
      controls.scriptPull('nginx', undefined);
      await pull();
    });

    test('an aborted pull leaves no image', async () => {
      engine.controls.scriptPull('nginx', { kind: 'slow', ms: 4000 });
      const abort = new AbortController();
      const pull = assert.rejects(engine.images.pullImage('nginx', undefined, noProgress, abort.signal), { message: 'enough' });
      await clock.advance(2000);
      abort.abort(new Error('enough'));
      await pull;
      assert.equal(await engine.images.inspectImage('nginx', never), undefined);
    });
  });

  describe('controls', () => {
    test('a verb fails as often as ordered, and nothing happens', async () => {
      const { runtime, controls } = engine;
      const pod = aPod('web');
      controls.fail('runSandbox', new Error('no space'), 2);
      for (const _ of [1, 2]) await assert.rejects(run(pod), { message: 'no space' });
      assert.deepEqual(controls.world(), []);
      await run(pod);
      assert.equal(controls.calls('runSandbox'), 3);
      assert.equal((await runtime.listPods(never)).length, 1);
    });

    test('a container start that fails in the engine is a ContainerStartError', async () => {
      engine.controls.fail('startContainer');
      await assert.rejects(run(aPod('web')), { name: 'ContainerStartError', reason: 'CreateContainerError' });
    });

    test('an answer is lost after the work was done', async () => {
      const pod = aPod('web');
      engine.controls.loseAnswer('startContainer');
      await assert.rejects(run(pod), ContainerStartError);
      assert.equal((await observed(pod))?.state.phase, 'running');
    });

    test('a call hangs until the caller gives up, or its deadline', async () => {
      engine.controls.hang('listPods', 2);
      const abort = new AbortController();
      const given = assert.rejects(engine.runtime.listPods(abort.signal), { message: 'enough' });
      abort.abort(new Error('enough'));
      await given;
      const late = assert.rejects(engine.runtime.listPods(never), { message: 'listPods: no answer within 2m0s' });
      await clock.advance(120_000);
      await late;
      assert.deepEqual(await engine.runtime.listPods(never), []);
    });

    test('heal takes back what is due', async () => {
      engine.controls.fail('listPods', undefined, 5);
      engine.controls.dropHints(true);
      engine.controls.heal();
      const hints: string[] = [];
      const subscription = engine.runtime.hints.subscribe((uid) => hints.push(uid));
      await run(aPod('web'));
      assert.equal((await engine.runtime.listPods(never)).length, 1);
      assert.ok(hints.includes('uid-web'));
      subscription.unsubscribe();
    });

    test('dropped hints are lost, changes never', async () => {
      const hints: string[] = [];
      const changes: string[] = [];
      const both = engine.runtime.hints.subscribe((uid) => hints.push(uid));
      both.add(engine.controls.changes.subscribe(({ part }) => changes.push(`${part.name} ${part.state.phase}`)));
      engine.controls.dropHints(true);
      await run(aPod('web'));
      assert.deepEqual([hints, changes], [[], ['POD created', 'POD running', 'app created', 'app running']]);
      both.unsubscribe();
    });

    test('a container is killed behind the back, with any exit code and reason', async () => {
      const pod = aPod('web');
      const { id } = await run(pod);
      engine.controls.kill(id, { reason: 'OOMKilled' });
      const state = (await observed(pod))?.state;
      assert.ok(state?.phase === 'exited');
      assert.deepEqual([state.exitCode, state.reason], [137, 'OOMKilled']);
      assert.throws(() => engine.controls.kill(id), /no running container/);
    });

    test('a killed sandbox is not ready and leaves its containers', async () => {
      const pod = aPod('web');
      const { sandbox } = await run(pod);
      engine.controls.kill(sandbox);
      const { sandboxes, containers } = await engine.runtime.observePod(pod.metadata.uid, never);
      assert.deepEqual([sandboxes.map((s) => s.ready), containers.map((c) => c.state.phase)], [[false], ['running']]);
    });

    for (const liveRestore of [false, true])
      test(`a restart cuts calls off and refuses new ones while it is down; containers ${liveRestore ? 'live on' : 'die'}`, async () => {
        const pod = aPod('web');
        await run(pod);
        engine.controls.hang('listPods');
        const cut = assert.rejects(engine.runtime.listPods(never), { message: 'the connection to the fake engine was closed' });
        engine.controls.restart({ downMs: 3000, liveRestore });
        await cut;
        await assert.rejects(engine.runtime.listPods(never), { message: 'listPods: cannot connect to the fake engine. Is it running?' });
        await clock.advance(3000);
        assert.equal((await observed(pod))?.state.phase, liveRestore ? 'running' : 'exited');
      });
  });

  test('latency is spent on the clock, in proportion to the verb', async () => {
    engine = fakeEngine({ clock, log: silentLogger, latencyMs: 10 });
    const took = async (call: () => Promise<unknown>): Promise<number> => {
      const since = clock.now();
      let end = Number.NaN;
      const called = call().then(() => {
        end = clock.now();
      });
      await clock.advance(1000);
      await called;
      return end - since;
    };
    assert.equal(await took(() => engine.runtime.listPods(never)), 10);
    assert.equal(await took(() => engine.images.pullImage(IMAGE, undefined, noProgress, never)), 400);
    const pod = aPod('web');
    assert.equal(await took(() => run(pod)), 80 + 70);
  });

  test('a container that was created but not started is seen so', async () => {
    engine = fakeEngine({ clock, log: silentLogger, latencyMs: 10 });
    const pulled = engine.images.pullImage(IMAGE, undefined, noProgress, never);
    await clock.advance(400);
    await pulled;
    const abort = new AbortController();
    const pod = aPod('web');
    const sandbox = engine.runtime.runSandbox(pod, { attempt: 0, hostname: 'web' }, never);
    await clock.advance(80);
    const start = sandbox.then(({ id }) => engine.runtime.startContainer(pod, id, spec(sleeper), abort.signal));
    const rejected = assert.rejects(start, { message: 'interrupted' });
    await clock.advance(65);
    abort.abort(new Error('interrupted'));
    await rejected;
    assert.deepEqual(
      engine.controls.world().map((part) => [part.name, part.state.phase]),
      [
        ['POD', 'running'],
        ['app', 'created'],
      ],
    );
  });

  test('addresses differ', async () => {
    for (const name of ['a', 'b']) await engine.runtime.runSandbox(aPod(name), { attempt: 0, hostname: name }, never);
    assert.deepEqual(
      engine.controls.world().flatMap((part) => part.ips),
      ['10.88.0.1', '10.88.0.2'],
    );
  });
});
