import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '../../../src/model/pod.ts';
import * as node from '../../../src/node/capability.ts';
import type { PodPreempted } from '../../../src/ports/happenings.ts';
import { aPodThat, edited, server } from '../../builders/pods-that.ts';
import { type AgentOnFakeEngine, agentOnFakeEngine, always } from '../../fakes/agent-on-fake-engine.ts';
import { outcomeOf, running, uidOf } from '../../fakes/pods-of-agent.ts';

type Agent = AgentOnFakeEngine & { readonly preempted: readonly PodPreempted[] };

/** An agent for pods of the API on a node with four CPUs. */
function aSmallNode(over: Parameters<typeof agentOnFakeEngine>[0] = {}): Agent {
  const preempted: PodPreempted[] = [];
  const agent = agentOnFakeEngine({
    source: 'api',
    node: () => ({ metadata: { name: 'n1' }, status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } } }),
    capabilities: [
      always('node', node.capability),
      always('metrics', () => ({ listener: { podPreempted: (what) => void preempted.push(what) } })),
    ],
    ...over,
  });
  return { ...agent, preempted };
}

const CRITICAL = 2_000_000_000;
const asking = (name: string, cpu: string, spec: Partial<PodSpec> = {}, behaviour = ''): Pod =>
  aPodThat(
    name,
    { containers: [server('app', { resources: { requests: { cpu } } })], ...spec },
    behaviour === '' ? {} : { app: behaviour },
  );

test('a critical pod begins once the pods that have to go for it have stopped, in their own grace period', async () => {
  const agent = aSmallNode();
  const slow = asking('slow', '2', { terminationGracePeriodSeconds: 20 }, 'term=ignore');
  const quick = asking('quick', '1');
  agent.declare([slow, quick]);
  await agent.clock.advance(5_000);
  agent.declare([slow, quick, asking('critical', '3', { priority: CRITICAL })]);
  await agent.clock.advance(15_000);
  assert.deepEqual(running(agent), ['quick', 'slow'], 'one goes, and is given its time');
  await agent.clock.advance(15_000);
  assert.deepEqual(running(agent), ['critical', 'quick']);
  assert.deepEqual(outcomeOf(agent, 'slow'), ['Failed', 'Preempting', 'Preempted in order to admit critical pod']);
  const disruption = agent.statuses.get(uidOf('slow'))?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.equal(disruption?.message, 'Pod was preempted by Kubelet to accommodate a critical pod.');
  assert.deepEqual(
    agent.events.filter(({ reason }) => reason === 'Preempting'),
    [{ type: 'Warning', reason: 'Preempting', message: 'Preempted in order to admit critical pod' }],
  );
  assert.deepEqual(agent.preempted, [{ uid: uidOf('slow'), signal: 'cpu' }]);
  await agent.close();
});

test('a critical pod for which no pods would make room is refused, and nothing is ended for it', async () => {
  const agent = aSmallNode();
  const other = asking('other', '2', { priority: CRITICAL });
  agent.declare([other, asking('web', '1')]);
  await agent.clock.advance(5_000);
  agent.declare([other, asking('web', '1'), asking('critical', '3', { priority: CRITICAL })]);
  await agent.clock.advance(60_000);
  assert.deepEqual(running(agent), ['other', 'web']);
  const [phase, reason, message] = outcomeOf(agent, 'critical') as readonly string[];
  assert.deepEqual([phase, reason], ['Failed', 'UnexpectedAdmissionError']);
  assert.match(message ?? '', /error finding a set of pods to preempt: no set of running pods found .*\(res: cpu, q: 1000\)/);
  await agent.close();
});

test('a pod that is not critical is refused where there is no room', async () => {
  const agent = aSmallNode();
  agent.declare([asking('web', '3')]);
  await agent.clock.advance(5_000);
  agent.declare([asking('web', '3'), asking('more', '2', { priority: CRITICAL - 1 })]);
  await agent.clock.advance(5_000);
  assert.deepEqual(running(agent), ['web']);
  assert.equal(agent.statuses.get(uidOf('more'))?.reason, 'OutOfcpu');
  await agent.close();
});

test('a critical pod that is refused for something else has nothing ended for it', async () => {
  const agent = aSmallNode();
  agent.declare([asking('web', '3')]);
  await agent.clock.advance(5_000);
  agent.declare([asking('web', '3'), asking('critical', '3', { priority: CRITICAL, hostUsers: false })]);
  await agent.clock.advance(30_000);
  assert.deepEqual(running(agent), ['web']);
  assert.equal(agent.statuses.get(uidOf('critical'))?.reason, 'UserNamespacesNotSupported');
  await agent.close();
});

test('of two critical pods that want the same room the older one gets it, and no more is ended than will do', async () => {
  const agent = aSmallNode();
  const web = asking('web', '3', { terminationGracePeriodSeconds: 5 }, 'term=ignore');
  agent.declare([web]);
  await agent.clock.advance(5_000);
  const at = (second: number) => ({ creationTimestamp: `2021-01-01T00:00:0${second}Z` });
  const critical = (name: string, second: number): Pod => {
    const pod = asking(name, '4', { priority: CRITICAL });
    return { ...pod, metadata: { ...pod.metadata, ...at(second) } };
  };
  agent.declare([web, critical('younger', 2), critical('older', 1)]);
  await agent.clock.advance(60_000);
  assert.deepEqual(running(agent), ['older']);
  assert.equal(agent.statuses.get(uidOf('younger'))?.reason, 'UnexpectedAdmissionError');
  assert.equal(agent.preempted.length, 1);
  await agent.close();
});

test('what is being ended already makes room, too: nothing more goes for a critical pod', async () => {
  const agent = aSmallNode();
  const slow = asking('slow', '2', { terminationGracePeriodSeconds: 30 }, 'term=ignore');
  agent.declare([slow, asking('web', '2')]);
  await agent.clock.advance(5_000);
  const first = asking('first', '2', { priority: CRITICAL });
  agent.declare([slow, asking('web', '2'), first]);
  await agent.clock.advance(5_000);
  // The manifest is edited meanwhile: the critical pod that asked has gone, and another asks.
  agent.declare([slow, asking('web', '2'), edited(first, 'uid-second', {})]);
  await agent.clock.advance(60_000);
  assert.equal(agent.preempted.length, 1);
  assert.equal(running(agent).length, 2);
  assert.ok(running(agent).includes('first'));
  await agent.close();
});

test('where what was ended does not stop, the critical pod is not admitted beside it, others go on, and it begins when that has stopped', async () => {
  const agent = aSmallNode();
  const stuck = asking('stuck', '3', { terminationGracePeriodSeconds: 1 }, 'term=ignore');
  agent.declare([stuck]);
  await agent.clock.advance(5_000);
  const all = [stuck, asking('critical', '3', { priority: CRITICAL })];
  agent.declare(all);
  await agent.clock.advance(0);
  agent.engine.controls.restart({ downMs: 60_000 });
  await agent.clock.advance(50_000);
  assert.equal(agent.statuses.get(uidOf('critical'))?.phase ?? 'Pending', 'Pending');
  await agent.clock.advance(120_000);
  assert.deepEqual(running(agent), ['critical']);
  assert.equal(agent.preempted.length, 1);
  await agent.close();
});

test('an agent that stops while room is made stops at once, and the next one goes on', async () => {
  const agent = aSmallNode();
  const web = asking('web', '3', { terminationGracePeriodSeconds: 60 }, 'term=ignore');
  const critical = asking('critical', '3', { priority: CRITICAL });
  agent.declare([web]);
  await agent.clock.advance(5_000);
  agent.declare([web, critical]);
  await agent.clock.advance(5_000);
  await agent.stop();
  const next = aSmallNode({ clock: agent.clock, engine: agent.engine });
  next.declare([web, critical]);
  await next.clock.advance(120_000);
  assert.deepEqual(running(next), ['critical']);
  await next.close();
});
