import assert from 'node:assert/strict';
import type { Container, Pod } from '../../../src/model/pod.ts';
import { aPodThat, edited, server, worker } from '../../builders/pods-that.ts';
import { clusterScenario, pathOf } from '../../fakes/cluster-scenario.ts';

const binds = (name: string, container: Container = server('app')): Pod =>
  aPodThat(name, { containers: [{ ...container, ports: [{ containerPort: 80, hostPort: 8080, protocol: 'TCP' }] }] });
const at = (second: number): Pick<Pod['metadata'], 'creationTimestamp'> => ({
  creationTimestamp: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
});

clusterScenario('of two pods that want one host port the older runs, also where the engine answers for it last', async (it) => {
  const [older, younger] = [binds('older'), binds('younger')];
  it.engine.controls.hang('observePod');
  it.create(older, at(1));
  it.create(younger, at(2));
  await it.advance(300_000);
  assert.deepEqual(it.running(), ['older/POD', 'older/app']);
  const { phase, reason } = it.apiStatus(younger) ?? {};
  assert.deepEqual([phase, reason], ['Failed', 'NodePorts']);
});

clusterScenario('of twenty pods that want one host port, created at once in any order, the oldest runs and is the only one', async (it) => {
  const pods = Array.from({ length: 20 }, (_, i) => binds(`p${i}`));
  for (const [i, pod] of [...pods.entries()].toSorted(([a], [b]) => ((a * 7) % 20) - ((b * 7) % 20))) it.create(pod, at((i + 13) % 20));
  await it.advance(60_000);
  assert.deepEqual(it.running(), ['p7/POD', 'p7/app']);
  assert.equal(pods.filter((pod) => it.apiStatus(pod)?.reason === 'NodePorts').length, 19);
});

clusterScenario('a pod that runs keeps its host port over a restart of the agent, whoever asks for it meanwhile', async (it) => {
  const [runs, older] = [binds('runs'), binds('older')];
  it.create(runs, at(2));
  await it.advance(1_000);
  await it.stopAgent();
  it.create(older, at(1));
  it.engine.controls.hang('observePod');
  await it.restartAgent();
  it.declare();
  await it.advance(300_000);
  assert.deepEqual(it.running(), ['runs/POD', 'runs/app']);
  assert.equal(it.apiStatus(older)?.reason, 'NodePorts');
});

clusterScenario('a host port is free for the next once its pod has ended, and not while it is being deleted', async (it) => {
  const [first, early, late] = [binds('first', worker('app', 10)), binds('early'), binds('late')];
  it.create(first, at(1));
  await it.advance(5_000);
  it.create(early, at(2));
  await it.advance(1_000);
  assert.equal(it.apiStatus(early)?.reason, 'NodePorts');
  await it.delete(first);
  await it.advance(60_000);
  it.create(late, at(3));
  await it.advance(1_000);
  assert.deepEqual(it.running(), ['late/POD', 'late/app']);
});

clusterScenario('an edited static pod keeps its name: a pod of the API that waits for it does not take it in between', async (it) => {
  for (let round = 0; round < 10; round++) {
    const before = aPodThat('web', { terminationGracePeriodSeconds: 5 }, {}, { uid: `old-${round}` as Pod['metadata']['uid'] });
    const after = edited(before, `new-${round}`);
    const namesake = edited(before, `api-${round}`);
    it.declare(before);
    await it.advance(1_000);
    // Somebody deletes the mirror pod and takes its name.
    it.api.remove(pathOf(before));
    it.create(namesake);
    await it.advance(1_000);
    assert.equal(it.apiStatus(namesake)?.phase, 'Pending');
    it.declare(after);
    await it.advance(20_000);
    assert.deepEqual(it.running(), ['web/POD', 'web/app']);
    assert.equal(it.one('web/app').uid, after.metadata.uid);
    assert.equal(it.apiStatus(namesake)?.phase, 'Pending');
    it.declare();
    await it.advance(20_000);
    assert.equal(it.one('web/app').uid, namesake.metadata.uid);
    assert.equal(it.apiStatus(namesake)?.phase, 'Running');
    await it.delete(namesake);
    await it.advance(20_000);
    assert.deepEqual(it.world(), []);
  }
});

clusterScenario(
  'a static pod that is declared while a pod of the API runs under its name comes first: that one stops and waits',
  async (it) => {
    const file = aPodThat('web');
    const namesake = edited(file, 'api');
    it.create(namesake);
    await it.advance(1_000);
    assert.equal(it.one('web/app').uid, namesake.metadata.uid);
    it.declare(file);
    await it.advance(5_000);
    assert.equal(it.one('web/app').uid, file.metadata.uid);
    assert.equal(
      it.world().some(({ uid }) => uid === namesake.metadata.uid),
      false,
    );
    const told = it.apiStatus(namesake);
    assert.deepEqual([told?.phase, told?.conditions?.find(({ type }) => type === 'Ready')?.status], ['Running', 'False']);
    const conflicts = (): readonly string[] =>
      it.agent.events.filter(({ reason }) => reason === 'NameConflict').map(({ message }) => message);
    assert.equal(conflicts().length, 2);
    assert.match(conflicts()[0] ?? '', /this pod is stopped/);
    assert.match(conflicts()[1] ?? '', /this pod waits until it is gone/);
    await it.advance(600_000);
    assert.equal(conflicts().length, 2);
    it.declare();
    await it.advance(60_000);
    assert.equal(it.one('web/app').uid, namesake.metadata.uid);
  },
);

clusterScenario('a static pod that is taken back before it began does not leave the pod of the API waiting', async (it) => {
  const file = aPodThat('web');
  const namesake = edited(file, 'api', { terminationGracePeriodSeconds: 20 });
  it.create(namesake);
  await it.advance(1_000);
  for (let ms = 0; ms <= 300; ms += 5) {
    it.declare(file);
    await it.advance(ms);
    it.declare();
    await it.advance(60_000);
    assert.equal(it.one('web/app').uid, namesake.metadata.uid, `taken back after ${ms} ms`);
  }
});

clusterScenario(
  "a pod of the API that was found running under a static pod's name gives way after a restart of the agent, too",
  async (it) => {
    const file = aPodThat('web');
    const namesake = edited(file, 'api');
    it.create(namesake);
    await it.advance(1_000);
    await it.restartAgent();
    it.declare(file);
    await it.advance(30_000);
    assert.equal(it.one('web/app').uid, file.metadata.uid);
    await it.restartAgent();
    it.declare(file);
    await it.advance(30_000);
    assert.deepEqual(it.running(), ['web/POD', 'web/app']);
    assert.equal(it.one('web/app').uid, file.metadata.uid);
  },
);

clusterScenario('a pod of the API that has ended does not keep its name from a static pod', async (it) => {
  const file = aPodThat('web');
  const job = edited(aPodThat('web', { restartPolicy: 'Never', containers: [worker('app', 1)] }), 'api');
  it.create(job);
  await it.advance(10_000);
  assert.equal(it.apiStatus(job)?.phase, 'Succeeded');
  it.declare(file);
  await it.advance(10_000);
  assert.equal(it.one('web/app').uid, file.metadata.uid);
  it.declare();
  await it.advance(60_000);
  assert.deepEqual(it.running(), []);
  assert.equal(it.apiStatus(job)?.phase, 'Succeeded');
});
