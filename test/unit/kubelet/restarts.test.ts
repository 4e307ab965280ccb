import assert from 'node:assert/strict';
import { containerHash } from '../../../src/model/container-hash.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import { aPodThat, server } from '../../builders/pods-that.ts';
import { scenario, type Scenario } from '../../fakes/scenario.ts';

/** Kills the container and says how many seconds it took to come back. */
async function secondsToRestart(it: Scenario, name: string): Promise<number> {
  const killedAtMs = it.clock.now();
  it.kill(name);
  for (let waited = 0; waited < 400 && !it.running().includes(name); waited++) await it.advance(1000);
  return Math.floor((it.times('started', name).at(-1)! - killedAtMs) / 1000);
}

scenario('a killed container is back at once the first time, then after 10 s, 20 s, 40 s and so on up to 300 s', async (it) => {
  it.declare(aPodThat('web'));
  await it.advance(1000);
  const waits: number[] = [];
  for (let kills = 0; kills < 8; kills++) {
    waits.push(await secondsToRestart(it, 'web/app'));
    await it.advance(1000);
  }
  assert.deepEqual(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
  assert.equal(it.status(aPodThat('web'))?.containerStatuses?.[0]?.restartCount, 8);
});

scenario('after ten minutes of good running a crash loop is forgotten', async (it) => {
  it.declare(aPodThat('web'));
  await it.advance(1000);
  for (let kills = 0; kills < 4; kills++) await secondsToRestart(it, 'web/app');
  await it.advance(601_000);
  assert.equal(await secondsToRestart(it, 'web/app'), 0);
  await it.advance(1000);
  assert.equal(await secondsToRestart(it, 'web/app'), 10);
});

scenario('while a crash loop holds a container back, status says CrashLoopBackOff and how it ended', async (it) => {
  const pod = aPodThat('web', {}, { app: 'exit=3 after=2s' });
  it.declare(pod);
  await it.advance(8000);
  const [status] = it.status(pod)?.containerStatuses ?? [];
  assert.equal(status?.state?.waiting?.reason, 'CrashLoopBackOff');
  assert.match(status?.state?.waiting?.message ?? '', /^back-off 10s restarting failed container=app pod=web_default/);
  assert.equal(status?.lastState?.terminated?.exitCode, 3);
  assert.equal(it.status(pod)?.phase, 'Running');
});

scenario('a container that waits for its back-off does not hold its neighbours back', async (it) => {
  it.declare(aPodThat('web', { containers: [server('a'), server('b')] }));
  await it.advance(1000);
  await secondsToRestart(it, 'web/a');
  it.kill('web/a');
  it.kill('web/b');
  await it.advance(1000);
  assert.deepEqual(it.running(), ['web/POD', 'web/b']);
});

scenario('a changed image under the same uid restarts just that container, in the same sandbox', async (it) => {
  const before = aPodThat('web', { containers: [server('a'), server('b')] });
  const after = aPodThat('web', { containers: [server('a'), server('b', { image: 'busybox:1.36' })] });
  it.declare(before);
  await it.advance(1000);
  const [sandbox, a] = [it.one('web/POD').id, it.one('web/a').id];
  it.declare(after);
  await it.advance(5000);
  assert.equal(it.one('web/POD').id, sandbox);
  assert.equal(it.one('web/a').id, a);
  const b = it.one('web/b');
  assert.ok(b.role.kind === 'container');
  assert.equal(b.role.specHash, containerHash(after.spec.containers[1]!));
  assert.equal(b.attempt, 1);
});

scenario('a dead sandbox is replaced by one with attempt+1, and everything runs in it', async (it) => {
  it.declare(aPodThat('web', { containers: [server('a'), server('b')] }));
  await it.advance(1000);
  it.kill('web/POD');
  await it.advance(40_000);
  assert.deepEqual(it.running(), ['web/POD', 'web/a', 'web/b']);
  const sandbox = it.one('web/POD');
  assert.equal(sandbox.attempt, 1);
  for (const name of ['web/a', 'web/b']) {
    const { role, attempt } = it.one(name);
    assert.ok(role.kind === 'container');
    assert.equal(role.sandbox, sandbox.id);
    assert.equal(attempt, 1);
  }
});

scenario('of each container the newest dead instance stays, for its log, and no more', async (it) => {
  it.declare(aPodThat('web'));
  await it.advance(1000);
  for (let kills = 0; kills < 4; kills++) {
    await secondsToRestart(it, 'web/app');
    await it.advance(1000);
  }
  const instances = it.world().filter(({ name }) => name === 'app');
  assert.deepEqual(
    instances.map(({ attempt, state }) => [attempt, state.phase]),
    [
      [3, 'exited'],
      [4, 'running'],
    ],
  );
});

scenario('containers stopped because their sandbox died have not ended by themselves, also where the next sandbox fails', async (it) => {
  const pod = aPodThat('web', { restartPolicy: 'OnFailure', containers: [server('a'), server('b')] });
  it.declare(pod);
  await it.advance(1000);
  for (let deaths = 0; deaths < 3; deaths++) {
    it.engine.controls.fail('runSandbox');
    it.kill('web/POD');
    await it.advance(60_000);
    assert.deepEqual(it.running(), ['web/POD', 'web/a', 'web/b']);
    assert.equal(it.status(pod)?.phase, 'Running');
  }
});

scenario('a container that somebody else removes from the engine is started again, and each loss is one restart', async (it) => {
  const pod = aPodThat('web', { containers: [server('app')] });
  it.declare(pod);
  await it.advance(5_000);
  for (const lost of [1, 2]) {
    const { id } = it.one('web/app');
    const removed = it.engine.runtime.removeContainer(id as ContainerId, new AbortController().signal);
    await it.advance(400_000);
    await removed;
    const [status] = it.status(pod)?.containerStatuses ?? [];
    assert.deepEqual([status?.restartCount, it.one('web/app').attempt], [lost, lost]);
  }
});
