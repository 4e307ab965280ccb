import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BehaviorSubject } from 'rxjs';
import type { Pod, PodSpec } from '../../../src/model/pod.ts';
import type { NodeShutdownTimes } from '../../../src/ports/happenings.ts';
import type { NodeParticipant } from '../../../src/ports/node-participant.ts';
import { capability } from '../../../src/shutdown/capability.ts';
import { aPodThat } from '../../builders/pods-that.ts';
import { type AgentOnFakeEngine, agentOnFakeEngine, always } from '../../fakes/agent-on-fake-engine.ts';
import { outcomeOf, running, uidOf } from '../../fakes/pods-of-agent.ts';
import { FakeKubeApi } from '../../fakes/fake-kube-api.ts';
import { FakeLogind } from '../../fakes/fake-logind.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const CRITICAL = 2_000_000_000;

interface NodeGoingDown extends AgentOnFakeEngine {
  readonly logind: FakeLogind;
  readonly log: RecordingLogger;
  readonly node: () => NodeParticipant;
  readonly times: readonly NodeShutdownTimes[];
}

/** Twenty seconds for all pods, and ten more for critical ones. */
function aNode(over: Parameters<typeof agentOnFakeEngine>[0] = {}, logind = new FakeLogind()): NodeGoingDown {
  const log = new RecordingLogger();
  const times: NodeShutdownTimes[] = [];
  let node: NodeParticipant = {};
  const agent = agentOnFakeEngine({
    source: 'api',
    log,
    ...over,
    options: { shutdownGracePeriodMs: 30_000, shutdownGracePeriodCriticalPodsMs: 10_000, ...over?.options },
    capabilities: [
      ...(over?.capabilities ?? []),
      always('shutdown', (parts) => {
        const contribution = capability(parts, logind);
        node = contribution.node ?? {};
        return contribution;
      }),
      always('metrics', () => ({ listener: { nodeShutdown: (at) => void times.push(at) } })),
    ],
  });
  return { ...agent, logind, log, times, node: () => node };
}

const deaf = { app: 'term=ignore' };
const aPod = (name: string, spec: Partial<PodSpec> = {}, behaviours: Record<string, string> = {}): Pod =>
  aPodThat(name, { terminationGracePeriodSeconds: 60, ...spec }, behaviours);
const terminated = ['Failed', 'Terminated', 'Pod was terminated in response to imminent node shutdown.'];
const warnings = ({ log }: NodeGoingDown): readonly string[] =>
  log.lines.filter(({ level, message }) => level === 'warn' && /machine|group|killed|logind/.test(message)).map(({ message }) => message);

test('pods end by priority in the time that is theirs, critical ones last, and then the machine may go', async () => {
  const agent = aNode();
  agent.declare([aPod('slow', {}, deaf), aPod('quick'), aPod('critical', { priority: CRITICAL })]);
  await agent.clock.advance(5_000);
  assert.equal(agent.logind.locks, 1);
  agent.logind.prepare(true);
  assert.deepEqual(agent.node().errors?.(), ['node is shutting down']);
  await agent.clock.advance(5_000);
  assert.deepEqual(running(agent), ['critical', 'slow']);
  await agent.clock.advance(14_000);
  assert.deepEqual(running(agent), ['critical', 'slow'], 'the group has twenty seconds');
  assert.equal(agent.logind.locks, 1);
  await agent.clock.advance(5_000);
  assert.deepEqual(running(agent), []);
  for (const name of ['slow', 'quick', 'critical']) assert.deepEqual(outcomeOf(agent, name), terminated);
  const disruption = agent.statuses.get(uidOf('quick'))?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.deepEqual([disruption?.reason, disruption?.message], ['TerminationByKubelet', terminated[2]]);
  assert.equal(agent.logind.locks, 0);
  const [{ startedAtMs = 0, endedAtMs = 0 } = {}] = agent.times.slice(-1);
  assert.ok(endedAtMs - startedAtMs >= 20_000 && endedAtMs - startedAtMs < 25_000);
  assert.deepEqual(
    agent.events.filter(({ reason }) => reason === 'NodeShutdown').map(({ message }) => message),
    ['Shutdown manager detected shutdown event'],
  );
  await agent.clock.advance(3_600_000);
  assert.deepEqual(running(agent), [], 'nothing starts again');
  await agent.close();
});

test('a pod that comes while the machine goes down is refused, and one that is being admitted, too', async () => {
  const gate = Promise.withResolvers<void>();
  const held = async (): Promise<undefined> => {
    await gate.promise;
  };
  const slow = always('slow', () => ({ pod: { admit: held } }));
  const agent = aNode({ capabilities: [slow] });
  agent.declare([aPod('early')]);
  await agent.clock.advance(1_000);
  agent.logind.prepare(true);
  agent.declare([aPod('early'), aPod('late')]);
  gate.resolve();
  await agent.clock.advance(5_000);
  assert.deepEqual(running(agent), []);
  assert.deepEqual(outcomeOf(agent, 'late'), [
    'Failed',
    'NodeShutdown',
    'Pod was rejected: Pod was rejected as the node is shutting down.',
  ]);
  assert.equal(agent.statuses.get(uidOf('early'))?.phase, 'Failed');
  await agent.close();
});

test('a shutdown that is called off leaves later groups alone and opens the node: its static pods begin anew, pods of the API stay ended', async () => {
  for (const source of ['api', 'file'] as const) {
    const agent = aNode({ source });
    const pods = [aPod('first'), aPod('stuck', {}, deaf), aPod('critical', { priority: CRITICAL })];
    agent.declare(pods);
    await agent.clock.advance(5_000);
    agent.logind.prepare(true);
    agent.declare([...pods, aPod('refused')]);
    await agent.clock.advance(5_000);
    agent.logind.prepare(false);
    assert.deepEqual(agent.node().errors?.(), []);
    agent.declare([...pods, aPod('refused'), aPod('new')]);
    await agent.clock.advance(120_000);
    const begun = source === 'api' ? ['critical', 'new'] : ['critical', 'first', 'new', 'refused', 'stuck'];
    assert.deepEqual(running(agent), begun);
    assert.equal(agent.logind.locks, 1);
    agent.logind.prepare(true);
    await agent.clock.advance(60_000);
    assert.deepEqual(running(agent), [], 'and the next one finds it ready');
    assert.equal(agent.logind.locks, 0);
    agent.logind.prepare(false);
    await agent.clock.advance(60_000);
    assert.equal(agent.logind.locks, 1);
    await agent.close();
  }
});

test('what is said twice is done once', async () => {
  const agent = aNode();
  agent.declare([aPod('web', {}, deaf)]);
  await agent.clock.advance(5_000);
  agent.logind.prepare(true);
  await agent.clock.advance(5_000);
  agent.logind.prepare(true);
  await agent.clock.advance(17_000);
  assert.deepEqual(running(agent), []);
  assert.equal(agent.times.filter(({ startedAtMs }) => startedAtMs !== undefined).length, 2, 'its begin and its end');
  agent.logind.prepare(false);
  agent.logind.prepare(false);
  await agent.clock.advance(1_000);
  assert.equal(agent.events.filter(({ reason }) => reason === 'NodeShutdown').length, 2);
  await agent.close();
});

test('200 pods in five groups end in the time of their groups', async () => {
  const byPriority = [0, 10, 20, 30, 40].map((priority) => ({ priority, shutdownGracePeriodSeconds: 5 }));
  const agent = aNode({
    options: { shutdownGracePeriodMs: 0, shutdownGracePeriodCriticalPodsMs: 0, shutdownGracePeriodByPodPriority: byPriority },
  });
  agent.declare(Array.from({ length: 200 }, (_, i) => aPod(`p${i}`, { priority: (i % 5) * 10 }, i < 20 ? deaf : {})));
  await agent.clock.advance(30_000);
  assert.equal(running(agent).length, 200);
  agent.logind.prepare(true);
  await agent.clock.advance(27_000);
  assert.deepEqual(running(agent), []);
  assert.equal(agent.logind.locks, 0);
  await agent.close();
});

test('a machine without logind is told of once, and keeps nothing from running; once there is one it is used', async () => {
  const logind = new FakeLogind();
  logind.fault = new Error('Failed to connect to bus: No such file or directory');
  const agent = aNode({}, logind);
  agent.declare([aPod('web')]);
  await agent.clock.advance(600_000);
  assert.deepEqual(running(agent), ['web']);
  assert.equal(warnings(agent).length, 2, 'once for hearing of it, once for delaying it');
  assert.equal(logind.locks, 0);
  logind.fault = undefined;
  await agent.clock.advance(61_000);
  assert.equal(logind.locks, 1);
  logind.prepare(true);
  await agent.clock.advance(10_000);
  assert.deepEqual(running(agent), []);
  await agent.close();
});

test('a lock that is lost is taken again, and a shutdown that was not heard of is asked for', async () => {
  const agent = aNode();
  agent.declare([aPod('web')]);
  await agent.clock.advance(5_000);
  agent.logind.end('delay');
  assert.equal(agent.logind.locks, 1);
  await agent.clock.advance(0);
  assert.equal(agent.logind.locks, 0);
  await agent.clock.advance(2_000);
  assert.equal(agent.logind.locks, 1);
  agent.logind.end('watch');
  await agent.clock.advance(0);
  agent.logind.prepare(true);
  await agent.clock.advance(10_000);
  assert.deepEqual(running(agent), []);
  await agent.close();
});

test('logind is let wait as long as pods may need; where it does not, pods have what there is', async () => {
  for (const [takesConfig, byMs] of [
    [true, 23_000],
    [false, 6_000],
  ] as const) {
    const logind = new FakeLogind();
    Object.assign(logind, { delaySeconds: 5, takesConfig });
    const agent = aNode({}, logind);
    agent.declare([aPod('slow', {}, deaf), aPod('critical', { priority: CRITICAL })]);
    await agent.clock.advance(10_000);
    assert.equal(logind.raisedTo, 30);
    assert.equal(warnings(agent).length, takesConfig ? 0 : 1);
    logind.prepare(true);
    await agent.clock.advance(byMs);
    assert.equal(logind.locks, 0);
    assert.deepEqual(running(agent), takesConfig ? [] : ['slow']);
    await agent.close();
  }
});

test('the API server knows of the end of all pods before the machine goes, also of those that had to be killed for it; where it does not answer, that is told', async () => {
  for (const answers of [true, false]) {
    const api = new FakeKubeApi();
    const node = new BehaviorSubject({ metadata: { name: 'n1', uid: 'node' } });
    const logind = new FakeLogind();
    const agent = aNode({ source: 'file', cluster: { api, informer: api.informer, nodeName: 'n1', node } }, logind);
    const create = (pod: Pod): string => {
      const path = `/api/v1/namespaces/default/pods/${pod.metadata.name}`;
      api.put(path, { ...pod, spec: { ...pod.spec, nodeName: 'n1' } });
      return path;
    };
    const paths = ['slow', 'deaf', 'critical'].map((name) =>
      create(aPod(name, name === 'critical' ? { priority: CRITICAL } : {}, name === 'slow' ? {} : deaf)),
    );
    agent.declare([]);
    await agent.clock.advance(10_000);
    assert.equal(running(agent).length, 3);
    if (!answers) api.intercept(() => Promise.reject(new Error('no answer')));
    logind.prepare(true);
    await agent.clock.advance(29_000);
    assert.equal(logind.locks, answers ? 0 : 1);
    await agent.clock.advance(1_000);
    assert.equal(logind.locks, 0);
    assert.deepEqual(running(agent), []);
    const phases = paths.map((path) => (api.stored(path) as Partial<Pod>).status?.phase);
    assert.deepEqual(phases, answers ? ['Failed', 'Failed', 'Failed'] : ['Running', 'Running', 'Running']);
    assert.equal(
      warnings(agent).some((line) => line.startsWith('pods are killed')),
      true,
    );
    assert.equal(
      warnings(agent).some((line) => line.startsWith('the API server does not know')),
      !answers,
    );
    await agent.close();
  }
});

test('an agent that begins while the machine goes down ends what runs', async () => {
  const first = aNode();
  first.declare([aPod('web')]);
  await first.clock.advance(5_000);
  await first.stop();
  const logind = new FakeLogind();
  logind.isGoingDown = true;
  const agent = aNode({ clock: first.clock, engine: first.engine }, logind);
  agent.declare([aPod('web')]);
  await agent.clock.advance(10_000);
  assert.deepEqual(running(agent), []);
  await agent.close();
});

test('an agent that begins while the machine goes down waits a while for those who declare its pods', async () => {
  for (const [afterMs, left] of [
    [5_000, []],
    [undefined, ['web']],
  ] as const) {
    const first = aNode();
    first.declare([aPod('web')]);
    await first.clock.advance(5_000);
    await first.stop();
    const logind = new FakeLogind();
    logind.isGoingDown = true;
    const agent = aNode({ clock: first.clock, engine: first.engine }, logind);
    await agent.clock.advance(afterMs ?? 8_000);
    assert.equal(logind.locks, 1, 'the machine waits');
    if (afterMs !== undefined) agent.declare([aPod('web')]);
    await agent.clock.advance(10_000);
    assert.deepEqual([running(agent), logind.locks], [left, 0]);
    assert.equal(
      agent.log.count('not all sources of pods have spoken as the machine goes down: only the pods of those that have are ended'),
      left.length,
    );
    await agent.close();
  }
});

test('a period below zero is none: pods are killed at once', async () => {
  const agent = aNode({
    options: {
      shutdownGracePeriodMs: 0,
      shutdownGracePeriodCriticalPodsMs: 0,
      shutdownGracePeriodByPodPriority: [
        { priority: 0, shutdownGracePeriodSeconds: -5 },
        { priority: 10, shutdownGracePeriodSeconds: 5 },
      ],
    },
  });
  agent.declare([aPod('deaf', {}, deaf)]);
  await agent.clock.advance(5_000);
  agent.logind.prepare(true);
  await agent.clock.advance(3_000);
  assert.deepEqual(running(agent), []);
  await agent.close();
});
