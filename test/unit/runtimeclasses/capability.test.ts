import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { NEVER } from 'rxjs';
import { silentLogger } from '../../../src/base/logger.ts';
import { fakeEngine } from '../../../src/engines/fake/fake-engine.ts';
import { capability } from '../../../src/runtimeclasses/capability.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { withoutCluster } from '../../builders/node-parts.ts';
import { aPodThat } from '../../builders/pods-that.ts';
import { type AgentOnFakeEngine, agentOnFakeEngine, always } from '../../fakes/agent-on-fake-engine.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { FakeKubeApi } from '../../fakes/fake-kube-api.ts';

const pathOf = (name: string): string => `/apis/node.k8s.io/v1/runtimeclasses/${name}`;
const classed = aPodThat('web', { runtimeClassName: 'sandboxed' });
const uid = classed.metadata.uid;

function aNode(t: TestContext, cluster: 'in a cluster' | 'alone' = 'in a cluster'): AgentOnFakeEngine & { readonly api: FakeKubeApi } {
  const clock = new FakeClock();
  const api = new FakeKubeApi();
  const agent = agentOnFakeEngine({
    clock,
    engine: fakeEngine({ clock, log: silentLogger, handlers: ['gvisor'] }),
    cluster: cluster === 'alone' ? undefined : { api, informer: api.informer, nodeName: 'n1', node: NEVER },
    capabilities: [always('runtimeclasses', capability)],
  });
  t.after(() => agent.close());
  return { ...agent, api };
}
const sandboxFailures = ({ events }: AgentOnFakeEngine): readonly string[] =>
  events.flatMap(({ type, reason, message }) => (reason === 'FailedCreatePodSandBox' ? [`${type} ${message}`] : []));
const phase = ({ statuses }: AgentOnFakeEngine): string | undefined => statuses.get(uid)?.phase;
const givenHandlers = ({ engine }: AgentOnFakeEngine): readonly (readonly [string, string | undefined])[] =>
  engine.controls
    .world()
    .filter(({ state }) => state.phase === 'running')
    .map(({ role, given }) => [role.kind, given?.handler] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

test('sandbox and containers of a pod run by the handler that its class names', async (t) => {
  const agent = aNode(t);
  agent.api.put(pathOf('sandboxed'), { handler: 'gvisor' });
  agent.declare([classed]);
  await agent.clock.advance(10_000);
  assert.deepEqual(givenHandlers(agent), [
    ['container', 'gvisor'],
    ['sandbox', 'gvisor'],
  ]);
});

test('a pod without a class runs by the default, and nothing is asked for', async (t) => {
  const agent = aNode(t);
  agent.declare([aPodThat('web')]);
  await agent.clock.advance(10_000);
  assert.deepEqual(givenHandlers(agent), [
    ['container', undefined],
    ['sandbox', undefined],
  ]);
  assert.deepEqual(
    agent.api.calls().filter((call) => call.includes('runtimeclasses')),
    [],
  );
});

test('a pod whose class names a handler that the engine does not have waits, and runs once the engine has it', async (t) => {
  const agent = aNode(t);
  agent.api.put(pathOf('sandboxed'), { handler: 'nonexistent' });
  agent.declare([classed]);
  await agent.clock.advance(10_000);
  assert.equal(phase(agent), 'Pending');
  const before = sandboxFailures(agent);
  assert.equal(before[0], 'Warning Failed to create pod sandbox: RuntimeHandler "nonexistent" not supported');
  await agent.clock.advance(300_000);
  assert.ok(sandboxFailures(agent).length > before.length);
  assert.equal(phase(agent), 'Pending');
  agent.api.put(pathOf('sandboxed'), { handler: 'gvisor' });
  await agent.clock.advance(400_000);
  assert.equal(phase(agent), 'Running');
});

test('a pod whose class is not there waits for it', async (t) => {
  const agent = aNode(t);
  agent.declare([classed]);
  await agent.clock.advance(10_000);
  assert.match(sandboxFailures(agent)[0] ?? '', /^Warning Failed to create pod sandbox: .*not found$/);
  assert.equal(phase(agent), 'Pending');
});

test('a pod waits where its class cannot be looked up: no API server answers, or there is none', async (t) => {
  const agent = aNode(t);
  agent.api.refuse('GET', 'sandboxed', new Error('connection refused'), 99);
  agent.declare([classed]);
  await agent.clock.advance(10_000);
  assert.equal(
    sandboxFailures(agent)[0],
    'Warning Failed to create pod sandbox: failed to lookup RuntimeClass sandboxed: connection refused',
  );
  const alone = aNode(t, 'alone');
  alone.declare([classed]);
  await alone.clock.advance(10_000);
  assert.equal(
    sandboxFailures(alone)[0],
    'Warning Failed to create pod sandbox: failed to lookup RuntimeClass sandboxed: there is no API server',
  );
});

test('a container runs by the handler of its sandbox, also when the class is gone', async () => {
  const api = new FakeKubeApi();
  const { pod } = capability({ cluster: { ...withoutCluster, clients: { ...withoutCluster.clients, main: api } } });
  const { signal } = new AbortController();
  const web = aPod('web', { runtimeClassName: 'sandboxed' });
  const container = async (): Promise<unknown> =>
    pod?.container?.(web, aContainer('app'), { env: new Map(), podIps: async () => [] }, signal);
  api.put(pathOf('sandboxed'), { handler: 'gvisor' });
  assert.deepEqual(await pod?.sandbox?.(web, signal), { handler: 'gvisor' });
  api.remove(pathOf('sandboxed'));
  assert.deepEqual(await container(), { handler: 'gvisor' });
  await pod?.release?.(web.metadata.uid, signal);
  await assert.rejects(container(), /not found/);
});
