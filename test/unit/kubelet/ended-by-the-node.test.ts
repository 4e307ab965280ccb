import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodUid } from '../../../src/model/pod.ts';
import type { NodeParts } from '../../../src/ports/node-parts.ts';
import type { PodEnd } from '../../../src/ports/pod-ends.ts';
import { aPodThat, edited, server, sidecar } from '../../builders/pods-that.ts';
import { podFilesInMemory } from '../../builders/node-parts.ts';
import { type AgentOnFakeEngine, agentOnFakeEngine, always } from '../../fakes/agent-on-fake-engine.ts';

type Agent = AgentOnFakeEngine & { readonly node: () => NodeParts; readonly did: readonly string[] };

function anAgent(over: Parameters<typeof agentOnFakeEngine>[0] = {}): Agent {
  let node: NodeParts | undefined;
  const did: string[] = [];
  const agent = agentOnFakeEngine({
    ...over,
    capabilities: [
      always('eviction', (parts) => {
        node = parts;
        return {
          pod: {
            tearDown: async (uid) => void did.push(`torn down ${uid}`),
            release: async (uid) => void did.push(`released ${uid}`),
          },
        };
      }),
    ],
  });
  return {
    ...agent,
    did,
    node: () => {
      assert.ok(node);
      return node;
    },
  };
}

const evicted = (graceSeconds?: number): PodEnd => ({ reason: 'Evicted', message: 'memory is short', graceSeconds });
const uid = 'uid-web' as PodUid;
const running = ({ engine }: AgentOnFakeEngine): number => engine.controls.world().filter(({ state }) => state.phase === 'running').length;

test('a pod that the node ends is Failed with the reason, keeps nothing that only a running pod needs, and is not started again', async () => {
  const agent = anAgent();
  const web = aPodThat('web');
  agent.declare([web]);
  await agent.clock.advance(1_000);
  agent.node().ends.end(uid, evicted());
  await agent.clock.advance(60_000);
  const { phase, reason, message } = agent.statuses.get(uid) ?? {};
  assert.deepEqual([phase, reason, message], ['Failed', 'Evicted', 'memory is short']);
  assert.deepEqual(agent.did, [`torn down ${uid}`]);
  await agent.clock.advance(3_600_000);
  assert.equal(running(agent), 0);
  agent.declare([]);
  await agent.clock.advance(60_000);
  assert.equal(agent.did.at(-1), `released ${uid}`);
  assert.equal(agent.node().ends.of(uid), undefined);
  agent.declare([web]);
  await agent.clock.advance(60_000);
  assert.equal(running(agent), 2, 'declared once more, it runs');
  await agent.close();
});

test('the end of a pod that is not here, or is over, is nothing', async () => {
  const agent = anAgent();
  agent.declare([aPodThat('web', { restartPolicy: 'Never', containers: [server('app', { command: ['sleep', '1'] })] })]);
  await agent.clock.advance(10_000);
  assert.equal(agent.statuses.get(uid)?.phase, 'Succeeded');
  for (const each of [uid, 'uid-of-none' as PodUid]) {
    agent.node().ends.end(each, evicted());
    assert.equal(agent.node().ends.of(each), undefined);
  }
  await agent.clock.advance(1_000);
  assert.equal(agent.statuses.get(uid)?.reason, undefined);
  assert.ok(!agent.records.some(({ wakes }) => wakes.includes('pod ends')));
  await agent.close();
});

test('a pod that is ended before it is admitted is refused nothing and started never', async () => {
  const agent = anAgent();
  agent.declare([aPodThat('web')]);
  // The agent looks at it at the first moment; a restart of the engine keeps it from starting.
  agent.engine.controls.restart({ downMs: 5_000 });
  await agent.clock.advance(1_000);
  agent.node().ends.end(uid, evicted());
  await agent.clock.advance(60_000);
  assert.equal(agent.statuses.get(uid)?.reason, 'Evicted');
  assert.ok(!agent.records.some(({ outcomes }) => outcomes.some(({ action }) => action.do === 'admit' || action.do === 'runSandbox')));
  await agent.close();
});

test('a pod that is ended while it waits for the name of another does not start when that is free', async () => {
  const agent = anAgent();
  const web = aPodThat('web', { terminationGracePeriodSeconds: 20 }, { app: 'term=ignore' });
  agent.declare([web]);
  await agent.clock.advance(1_000);
  agent.declare([edited(web, 'next')]);
  await agent.clock.advance(1_000);
  agent.node().ends.end('next' as PodUid, evicted());
  await agent.clock.advance(60_000);
  assert.equal(running(agent), 0);
  assert.equal(agent.statuses.get('next' as PodUid)?.reason, 'Evicted');
  await agent.close();
});

for (const [graces, endsWithinMs] of [
  [[20, 5], 6_000],
  [[5, 20], 6_000],
  [[undefined, 5], 6_000],
  [[600, undefined], 12_000],
  [[undefined, 600], 12_000],
  [[0], 1_000],
] as const)
  test(`of ends with ${graces.map((each) => `${each ?? 'its own 10'} s`).join(' and ')} the shortest grace period counts`, async () => {
    const agent = anAgent();
    agent.declare([aPodThat('web', { terminationGracePeriodSeconds: 10 }, { app: 'term=ignore' })]);
    await agent.clock.advance(1_000);
    for (const each of graces) agent.node().ends.end(uid, evicted(each));
    await agent.clock.advance(endsWithinMs);
    assert.equal(running(agent), 0);
    await agent.close();
  });

test('the containers of an ended pod share one grace period, and an edit meanwhile does not begin another', async () => {
  const agent = anAgent();
  const deaf = { app: 'term=ignore', one: 'term=ignore', two: 'term=ignore' };
  const web = aPodThat('web', { initContainers: [sidecar('one'), sidecar('two')] }, deaf);
  agent.declare([web]);
  await agent.clock.advance(5_000);
  assert.equal(running(agent), 4);
  agent.node().ends.end(uid, evicted(10));
  await agent.clock.advance(5_000);
  agent.declare([{ ...web, metadata: { ...web.metadata, labels: { edited: 'true' } } }]);
  await agent.clock.advance(15_000);
  assert.equal(running(agent), 0);
  await agent.close();
});

test('an agent that starts again on a static pod that was ended starts the pod', async () => {
  const agent = anAgent();
  agent.declare([aPodThat('web')]);
  await agent.clock.advance(1_000);
  agent.node().ends.end(uid, evicted(0));
  await agent.clock.advance(10_000);
  await agent.stop();
  const next = anAgent({ clock: agent.clock, engine: agent.engine });
  next.declare([aPodThat('web')]);
  await next.clock.advance(60_000);
  assert.equal(running(next), 2);
  await next.close();
});

test('a pod that the node ended says so in condition DisruptionTarget, once its containers have stopped', async () => {
  const agent = anAgent();
  agent.declare([aPodThat('web', {}, { app: 'term=ignore' }, { generation: 3 })]);
  await agent.clock.advance(1_000);
  const disruption = (): unknown => agent.statuses.get(uid)?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  agent.node().ends.end(uid, { ...evicted(20), condition: 'The node was short of memory.' });
  await agent.clock.advance(15_000);
  assert.equal(disruption(), undefined);
  await agent.clock.advance(10_000);
  const { lastTransitionTime, ...condition } = Object(disruption());
  assert.deepEqual(condition, {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'TerminationByKubelet',
    message: 'The node was short of memory.',
    observedGeneration: 3,
  });
  assert.match(lastTransitionTime, /Z$/);
  const before = disruption();
  await agent.clock.advance(3_600_000);
  assert.deepEqual(disruption(), before);
  await agent.close();
});

test('a pod that was ended for what it did itself has no condition DisruptionTarget', async () => {
  const agent = anAgent();
  agent.declare([aPodThat('web')]);
  await agent.clock.advance(1_000);
  agent.node().ends.end(uid, { ...evicted(1), condition: false });
  await agent.clock.advance(10_000);
  const { reason, conditions = [] } = agent.statuses.get(uid) ?? {};
  assert.equal(reason, 'Evicted');
  assert.deepEqual(
    conditions.filter(({ type }) => type === 'DisruptionTarget'),
    [],
  );
  await agent.close();
});

for (const [when, afterMs] of [
  ['while its containers are being stopped', 2_000],
  ['after its end', 60_000],
] as const)
  test(`a pod of the API that was ended stays so where the agent restarts ${when}, whatever the API server knows`, async () => {
    const podFiles = podFilesInMemory();
    const agent = anAgent({ source: 'api', podFiles });
    const web = aPodThat('web', {}, { app: 'term=ignore' });
    agent.declare([web]);
    await agent.clock.advance(1_000);
    agent.node().ends.end(uid, evicted(10));
    await agent.clock.advance(afterMs);
    await agent.stop();
    const next = anAgent({ clock: agent.clock, engine: agent.engine, source: 'api', podFiles });
    next.declare([web]);
    await next.clock.advance(60_000);
    assert.deepEqual([next.statuses.get(uid)?.phase, next.statuses.get(uid)?.reason], ['Failed', 'Evicted']);
    assert.equal(running(next), 0);
    await next.close();
  });
