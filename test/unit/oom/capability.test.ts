import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { silentLogger } from '../../../src/base/logger.ts';
import type { PodStatus } from '../../../src/model/pod.ts';
import { capability } from '../../../src/oom/capability.ts';
import { groupedKills } from '../../../src/oom/grouped-kills.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import type { RunningContainer, RunningPod } from '../../../src/ports/running-pods.ts';
import { aMachine, type Machine } from '../../builders/a-machine.ts';
import { aPod } from '../../builders/a-pod.ts';
import { nodeUnderTest, nothingGiven } from '../../builders/node-parts.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const never = new AbortController().signal;
const aRunning = (id: string, pid: number): RunningContainer => ({
  id: id as ContainerId,
  name: id,
  engineName: id,
  image: 'busybox:1.35',
  startedAtMs: 0,
  pid,
});
const web = aPod('web');
const podOf = (...containers: readonly RunningContainer[]): RunningPod => ({
  uid: web.metadata.uid,
  name: 'web',
  namespace: 'default',
  network: 'pod',
  sandbox: aRunning('pause', 99),
  containers,
});
const runs = (...ids: readonly string[]): PodStatus => ({
  containerStatuses: ids.map((id) => ({
    name: id,
    image: '',
    imageID: '',
    ready: true,
    restartCount: 0,
    containerID: `docker://${id}`,
    state: { running: {} },
  })),
});

/** Containers "a" and "b", and the file that says what is killed. */
async function twoContainers(t: TestContext): Promise<Machine & { killsAll(id: string): Promise<string> }> {
  const machine = await aMachine({
    'proc/99/cgroup': '0::/docker/pause\n',
    'proc/1/cgroup': '0::/docker/a\n',
    'proc/2/cgroup': '0::/docker/b\n',
    'cgroup/docker/pause/memory.oom.group': '0',
    'cgroup/docker/a/memory.oom.group': '0',
    'cgroup/docker/b/memory.oom.group': '0',
  });
  t.after(() => machine.remove());
  return { ...machine, killsAll: (id) => readFile(machine.at(`cgroup/docker/${id}/memory.oom.group`), 'utf8') };
}

test('a container is killed whole from when it is seen to run, and so are those that ran before the agent', async (t) => {
  const machine = await twoContainers(t);
  const cgroups = { root: machine.at('cgroup'), version: 2, missing: [], mixedIn: [] } as const;
  const pods = [podOf(aRunning('a', 1))];
  const listed: PromiseWithResolvers<void>[] = [Promise.withResolvers(), Promise.withResolvers()];
  let listings = 0;
  const scene = nodeUnderTest({ cgroups });
  t.after(() => scene.node.engine.close());
  const running = { list: async () => (listed[listings++]?.resolve(), [...pods]), stale: () => {} };
  const { services = [] } = capability({ ...scene.node, engine: { ...scene.node.engine, running } }, machine.at('proc'));
  const stop = new AbortController();
  const run = services[0]?.run(stop.signal, nothingGiven);
  const until = async (id: string): Promise<void> => {
    while ((await machine.killsAll(id)) !== '1') await new Promise(setImmediate);
  };
  scene.setStatus(web, runs('a'));
  await until('a');
  pods[0] = podOf(aRunning('a', 1), aRunning('b', 2));
  scene.setStatus(web, runs('a'));
  scene.setStatus(web, runs('a', 'b'));
  await until('b');
  assert.equal(listings, 2, 'nothing was looked at for a status in which nothing has started');
  assert.equal(await machine.killsAll('pause'), '0');
  stop.abort();
  await run;
});

for (const [name, over] of [
  ['cgroup v1', { cgroups: { root: '/dev/null', version: 1, missing: [], mixedIn: [] } }],
  ['singleProcessOOMKill', { options: { singleProcessOomKill: true } }],
] as const)
  test(`with ${name} nothing is done`, (t) => {
    const scene = nodeUnderTest(over);
    t.after(() => scene.node.engine.close());
    assert.deepEqual(capability(scene.node), {});
  });

test('another process of the same number is left alone, and the container is looked at again', async (t) => {
  const machine = await twoContainers(t);
  const stale: string[] = [];
  const running = { list: async () => [podOf(aRunning('a', 2), aRunning('gone', 7))], stale: (id: string) => void stale.push(id) };
  const clock = new FakeClock();
  await groupedKills({ running, cgroups: { root: machine.at('cgroup') }, clock, log: silentLogger, proc: machine.at('proc') }).setAll(
    never,
  );
  assert.deepEqual([await machine.killsAll('b'), stale], ['0', ['a', 'gone']]);
});

test('a cgroup that cannot be written is told once', async (t) => {
  const machine = await twoContainers(t);
  await machine.write({ 'proc/3/cgroup': '0::/dir/c\n', 'cgroup/dir/c/memory.oom.group/x': '' });
  const log = new RecordingLogger();
  const running = { list: async () => [podOf(aRunning('c', 3))], stale: () => {} };
  const kills = groupedKills({ running, cgroups: { root: machine.at('cgroup') }, clock: new FakeClock(), log, proc: machine.at('proc') });
  await kills.setAll(never);
  await kills.setAll(never);
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields['pod'], fields['container']]),
    [['warn', 'default/web', 'c']],
  );
});

test('an engine that does not answer is asked again', async (t) => {
  const machine = await twoContainers(t);
  const clock = new FakeClock();
  let failures = 2;
  const running = {
    list: async () => {
      if (failures-- > 0) throw new Error('no answer');
      return [podOf(aRunning('a', 1))];
    },
    stale: () => {},
  };
  const log = new RecordingLogger();
  await clock.until(groupedKills({ running, cgroups: { root: machine.at('cgroup') }, clock, log, proc: machine.at('proc') }).setAll(never));
  assert.equal(await machine.killsAll('a'), '1');
  assert.equal(log.lines.length, 2);
});
