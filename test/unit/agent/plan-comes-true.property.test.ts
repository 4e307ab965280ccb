import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planOnNode } from '../../../src/agent/plan-on-node.ts';
import type { PlannedChanges } from '../../../src/model/planned-changes.ts';
import type { Container, Pod, PodUid } from '../../../src/model/pod.ts';
import { capability as nodeCapability } from '../../../src/node/capability.ts';
import type { Given } from '../../../src/ports/contribution.ts';
import type { DeclaredManifests } from '../../../src/ports/declared-manifests.ts';
import type { NodeParts } from '../../../src/ports/node-parts.ts';
import { aNode } from '../../builders/node-parts.ts';
import { aPodThat, server, sidecar, worker } from '../../builders/pods-that.ts';
import { asSeen, type Happened, whatHappened } from '../../builders/what-happened.ts';
import { agentOnFakeEngine, always, type AgentOnFakeEngine } from '../../fakes/agent-on-fake-engine.ts';

const CALM_MS = 120_000;
const names = ['a', 'b', 'c'] as const;

/** One field that is otherwise. */
type Edit = (pod: Pod) => Pod;
const spec =
  (over: Partial<Pod['spec']>): Edit =>
  (pod) => ({ ...pod, spec: { ...pod.spec, ...over } });
const container =
  (name: string, over: Partial<Container>): Edit =>
  (pod) =>
    spec({
      containers: pod.spec.containers.map((each) => (each.name === name ? { ...each, ...over } : each)),
      initContainers: (pod.spec.initContainers ?? []).map((each) => (each.name === name ? { ...each, ...over } : each)),
    })(pod);
const amounts = (cpu: string): Partial<Container> => ({ resources: { requests: { cpu }, limits: { cpu } } });
const edits: Readonly<Record<string, Edit>> = {
  image: container('app', { image: 'busybox:1.36' }),
  'image of the other': container('other', { image: 'busybox:1.36' }),
  'image of the sidecar': container('proxy', { image: 'busybox:1.36' }),
  'image of the init container': container('setup', { image: 'busybox:1.36' }),
  args: container('app', { args: ['--more'] }),
  environment: container('app', { env: [{ name: 'V', value: '2' }] }),
  'a little CPU': container('app', amounts('200m')),
  'CPU at a restart': container('other', {
    ...amounts('300m'),
    resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
  }),
  'more CPU than there is': container('app', amounts('90')),
  'half of the CPUs': container('app', amounts('2')),
  'a container more': (pod) => spec({ containers: [...pod.spec.containers, server('more')] })(pod),
  'a container less': (pod) => spec({ containers: pod.spec.containers.filter(({ name }) => name !== 'other') })(pod),
  'the network of the node': spec({ hostNetwork: true }),
  'a port of the node': container('app', { ports: [{ containerPort: 80, hostPort: 8080, protocol: 'TCP' }] }),
  'another node': spec({ nodeSelector: { disk: 'golden' } }),
  'grace period': spec({ terminationGracePeriodSeconds: 7 }),
  'a deadline that is over': spec({ activeDeadlineSeconds: 1 }),
  'a deadline that is far away': spec({ activeDeadlineSeconds: 100_000 }),
  label: (pod) => ({ ...pod, metadata: { ...pod.metadata, labels: { tier: 'web' } } }),
  'restart policy': spec({ restartPolicy: 'Never' }),
};

const shapes: Readonly<Record<string, (name: string) => Pod>> = {
  server: (name) => aPodThat(name, { containers: [server('app'), server('other')] }),
  'with init containers': (name) => aPodThat(name, { initContainers: [worker('setup', 1), sidecar('proxy')], containers: [server('app')] }),
  'that has completed': (name) => aPodThat(name, { restartPolicy: 'Never', containers: [worker('app', 1)] }),
  'that keeps crashing': (name) => aPodThat(name, { containers: [server('other'), server('app')] }, { app: 'exit=1 after=3s' }),
};

const anEdit = fc.record({ of: fc.constantFrom(...Object.keys(edits)), keepsUid: fc.boolean() });
const aChange = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('edit' as const), edits: fc.array(anEdit, { minLength: 1, maxLength: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('keep' as const) }) },
);
const aCase = fc.record({
  pods: fc.record({ a: fc.constantFrom(...Object.keys(shapes)), b: fc.constantFrom(...Object.keys(shapes)) }),
  changes: fc.record({ a: aChange, b: aChange }),
  adds: fc.option(fc.record({ shape: fc.constantFrom(...Object.keys(shapes)), edit: anEdit }), { nil: undefined }),
});

test('what a plan says is what happens, whichever fields are edited', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(aCase, async ({ pods, changes, adds }) => {
      const before = names.flatMap((name) => (name === 'c' ? [] : [shapes[pods[name]]?.(name)])).filter((pod) => pod !== undefined);
      const after = before.flatMap((pod) => changed(pod, changes[pod.metadata.name as 'a' | 'b']));
      const added = adds && edits[adds.edit.of]?.(shapes[adds.shape]?.('c') ?? aPodThat('c'));
      await comesTrue(before, added ? [...after, added] : after);
    }),
    { numRuns: Number(process.env['RXLET_TEST_RUNS'] ?? 25), verbose: 1 },
  );
});

test('a port that another pod has, and a pod that makes room for itself', { timeout: 120_000 }, async () => {
  const port = edits['a port of the node'] ?? ((pod: Pod) => pod);
  await comesTrue([port(aPodThat('a'))], [port(aPodThat('a')), port(aPodThat('b'))]);
  await comesTrue([port(aPodThat('a'))], [port(aPodThat('b'))]);
});

test('a resize that waits for room counts as what it was given, and gets room when there is some', { timeout: 120_000 }, async () => {
  const asking = (name: string, cpu: string): Pod => container('app', amounts(cpu))(aPodThat(name, { containers: [server('app')] }));
  const [before, waiting] = [
    [asking('a', '1'), asking('b', '2')],
    [asking('a', '3'), asking('b', '2')],
  ];
  // Of four CPUs the two have three.
  const saysOfA = async (after: readonly Pod[]): Promise<string> => {
    const planned = await comesTrue(waiting, after, before);
    return planned.find(({ pod }) => pod === 'default/a')?.because.join() ?? '';
  };
  assert.match(await saysOfA([...waiting, asking('c', '500m')]), /^it keeps the resources that it has: Deferred: /);
  await comesTrue(waiting, [...waiting, asking('c', '2')], before);
  assert.equal(await saysOfA(before), 'the pod goes on, and no container restarts');
  assert.match(await saysOfA(waiting.slice(0, 1)), /gets other cpu as it runs/);
  assert.match(await saysOfA([asking('a', '2'), asking('b', '2')]), /gets other cpu as it runs/);
});

type Change =
  | { readonly do: 'keep' }
  | { readonly do: 'remove' }
  | { readonly do: 'edit'; readonly edits: readonly { of: string; keepsUid: boolean }[] };

function changed(pod: Pod, change: Change): readonly Pod[] {
  if (change.do === 'remove') return [];
  if (change.do === 'keep') return [structuredClone(pod)];
  const now = change.edits.reduce((each, { of }) => edits[of]?.(each) ?? each, structuredClone(pod));
  const uid = change.edits.some(({ keepsUid }) => !keepsUid) ? `${pod.metadata.uid}-2` : pod.metadata.uid;
  return [{ ...now, metadata: { ...now.metadata, uid: uid as PodUid } }];
}

/** `earlier`: what was declared before `before`. */
async function comesTrue(before: readonly Pod[], after: readonly Pod[], earlier?: readonly Pod[]): Promise<PlannedChanges['pods']> {
  const { agent, plan } = planningAgent();
  try {
    for (const pods of [...(earlier ? [earlier] : []), before]) {
      agent.declare(pods);
      await agent.clock.advance(CALM_MS);
    }
    const looked = await eventually(agent, agent.engine.runtime.listPods(new AbortController().signal));
    const runningOf = (uid: PodUid): readonly string[] =>
      looked.flatMap((pod) =>
        pod.uid === uid
          ? pod.parts.flatMap(({ container, phase }) => (phase === 'running' && container !== undefined ? [container] : []))
          : [],
      );
    const planned = await eventually(agent, plan(declared(before), declared(after)));
    const from = agent.records.length;
    agent.declare(after);
    await agent.clock.advance(CALM_MS);
    for (const { pod, ...said } of planned.pods) {
      const name = pod.slice('default/'.length);
      const [old, now] = [before, after].map((all) => all.find(({ metadata }) => metadata.name === name)?.metadata.uid);
      const outcomes = agent.records.slice(from).flatMap((record) => (record.pod === pod ? record.outcomes : []));
      const actions = outcomes.map(({ action, error }) => ({ ...action, error }));
      const happened = whatHappened(actions, { wereRunning: old === undefined ? [] : runningOf(old), isSamePod: old === now });
      const declaredNow = after.find(({ metadata }) => metadata.name === name);
      const [is, shouldBe] = [happened, asSeen(said)].map((each) => withoutCrashing(each, declaredNow));
      assert.deepEqual(is, shouldBe, `${pod} is planned as ${JSON.stringify(said)}`);
    }
    assert.deepEqual(
      planned.pods.map(({ pod }) => pod),
      [...new Set([...before, ...after].map(({ metadata: { name } }) => `default/${name}`))].toSorted(),
    );
    return planned.pods;
  } finally {
    await agent.close();
  }
}

/** A container that keeps crashing starts again and again, whatever is planned. */
function withoutCrashing({ consequence, containers }: Happened, pod: Pod | undefined): Happened {
  const crashes = Object.keys(pod?.metadata.annotations ?? {}).some((key) => key.endsWith('/app'));
  const others = containers.filter((name) => !(crashes && name === 'app'));
  return containers.length > 0 && others.length === 0 ? { consequence: 'nothing', containers: [] } : { consequence, containers: others };
}

const declared = (pods: readonly Pod[]): DeclaredManifests => ({
  pods: new Map(pods.map((pod) => [`default/${pod.metadata.name}`, { pod, file: `${pod.metadata.name}.yaml` }])),
  objects: new Map(),
  refused: [],
  unreadable: [],
  isWhole: true,
});

interface PlanningAgent {
  readonly agent: AgentOnFakeEngine;
  readonly plan: (before: DeclaredManifests, after: DeclaredManifests) => Promise<PlannedChanges>;
}

function planningAgent(): PlanningAgent {
  let parts: { readonly node: NodeParts; readonly given: Given } | undefined;
  const planner = always('planner', (node) => ({
    services: [{ name: 'planner', stage: 'beside pods', run: async (_signal, given) => void (parts = { node, given }) }],
  }));
  const agent = agentOnFakeEngine({ node: () => aNode('n1').known(), capabilities: [always('node', nodeCapability), planner] });
  return {
    agent,
    plan: async (before, after) => {
      assert.ok(parts);
      return planOnNode(parts.node, parts.given, { before, after }, new AbortController().signal);
    },
  };
}

/** The engine's answers take their time on the test's clock. */
async function eventually<T>({ clock }: Pick<AgentOnFakeEngine, 'clock'>, promise: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const over = promise.finally(() => (state.isOver = true));
  over.catch(() => {});
  while (!state.isOver) await clock.advance(10);
  return over;
}
