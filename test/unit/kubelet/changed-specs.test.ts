import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FakeEngine } from '../../../src/engines/fake/fake-engine.ts';
import { wholeContainerHash } from '../../../src/model/container-hash.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { aPodThat, server, sidecar } from '../../builders/pods-that.ts';
import { agentOnFakeEngine } from '../../fakes/agent-on-fake-engine.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { Scenario, scenario, scenarioOn } from '../../fakes/scenario.ts';

scenario('a changed image restarts the container whatever the restart policy, and no other', async (it) => {
  const pod = (image: string): Pod => aPodThat('web', { restartPolicy: 'Never', containers: [server('a'), server('b', { image })] });
  it.declare(pod('busybox:1.35'));
  await it.advance(1000);
  const { id } = it.one('web/a');
  it.declare(pod('busybox:1.36'));
  await it.advance(60_000);
  assert.deepEqual([it.one('web/a').id, it.one('web/b').attempt], [id, 1]);
});

test('a container goes on where anything but its image changes, the log says so, and its next start has the change', async () => {
  const log = new RecordingLogger();
  const it = agentOnFakeEngine({ log });
  const running = () => it.engine.controls.world().filter(({ name, state }) => name === 'app' && state.phase === 'running');
  it.declare([aPodThat('web')]);
  await it.clock.advance(1000);
  const [before] = running();
  assert.ok(before);
  it.declare([aPodThat('web', { containers: [server('app', { args: ['--new'], env: [{ name: 'A', value: '1' }] })] })]);
  await it.clock.advance(60_000);
  assert.deepEqual(
    running().map(({ id }) => id),
    [before.id],
  );
  const said = log.lines.filter(({ message }) => message === 'changed fields of a container count from its next start');
  assert.deepEqual(
    said.map(({ fields }) => fields),
    [{ pod: 'default/web', uid: 'uid-web', container: 'app', fields: ['args', 'env'] }],
  );
  it.engine.controls.kill(before.id);
  await it.clock.advance(1000);
  assert.deepEqual(
    running().map(({ attempt, given }) => [attempt, given.env?.find(({ name }) => name === 'A')?.value]),
    [[1, '1']],
  );
  await it.close();
});

/** Of a pod with a sidecar and a server, of images without and with a tag. */
const adopted = (image: string): Pod =>
  aPodThat('web', { initContainers: [sidecar('proxy', { image: 'busybox' })], containers: [server('app', { image })] });

/** Agents find on first instances what somebody else has noted down. */
function madeByAnother(hashes: Readonly<Record<string, string>>): (engine: FakeEngine) => FakeEngine {
  return (engine) => {
    const observe = engine.runtime.observePod.bind(engine.runtime);
    Object.assign(engine.runtime, {
      observePod: async (...asked: Parameters<typeof observe>) => {
        const pod = await observe(...asked);
        const noted = pod.containers.map((one) => ({ ...one, specHash: (one.attempt === 0 && hashes[one.name]) || one.specHash }));
        return { ...pod, containers: noted };
      },
    });
    return engine;
  };
}

const [proxy, app] = [adopted('busybox:1.35').spec.initContainers?.[0], adopted('busybox:1.35').spec.containers[0]];
assert.ok(proxy && app);
for (const [maker, hashes] of [
  ['an earlier version of this agent, or kubelet 1.20', { proxy: wholeContainerHash(proxy), app: wholeContainerHash(app) }],
  ['cri-dockerd, for a kubelet that hashed otherwise', { proxy: 'cafe', app: 'beef' }],
] as const)
  scenarioOn(
    () => new Scenario(undefined, madeByAnother(hashes)),
    `a pod made by ${maker}, goes on until its image changes`,
    async (it) => {
      it.declare(adopted('busybox:1.35'));
      await it.advance(1000);
      const ids = [it.one('web/proxy').id, it.one('web/app').id];
      await it.restartAgent();
      // Another spelling of the same.
      it.declare(adopted('docker.io/library/busybox:1.35'));
      await it.advance(120_000);
      assert.deepEqual([it.one('web/proxy').id, it.one('web/app').id], ids);
      assert.equal(it.times('started', 'web/app').length, 1);
      it.declare(adopted('busybox:1.36'));
      await it.advance(60_000);
      assert.deepEqual([it.one('web/proxy').id, it.one('web/app').attempt], [ids[0], 1]);
    },
  );
