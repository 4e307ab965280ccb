import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeEngineError } from '../../../src/engines/fake/call-gate.ts';
import type { Container, Pod, PodCondition, PodUid } from '../../../src/model/pod.ts';
import type { NodeParts } from '../../../src/ports/node-parts.ts';
import { podFilesInMemory } from '../../builders/node-parts.ts';
import { aPodThat, server, worker } from '../../builders/pods-that.ts';
import { Scenario, scenarioOn } from '../../fakes/scenario.ts';

/** Static pods are critical: others would have to go for them. */
class OfTheApi extends Scenario {
  override readonly source = 'api';
}
const scenario = (sentence: string, play: (it: Scenario) => Promise<void>): void => scenarioOn(() => new OfTheApi(), sentence, play);

interface Asked {
  readonly cpu?: string;
  readonly memory?: string;
  readonly generation?: number;
  readonly policy?: Container['resizePolicy'];
}

/** A pod whose container has this much, asked for and at most. */
const podOf = (name: string, { cpu = '100m', memory = '64Mi', generation = 1, policy }: Asked = {}): Pod =>
  aPodThat(
    name,
    {
      containers: [
        server('app', { resources: { requests: { cpu, memory }, limits: { cpu, memory } }, ...(policy && { resizePolicy: policy }) }),
      ],
    },
    {},
    { generation },
  );

/** What the engine has given the container: CPU asked for, and at most, and memory. */
const given = (it: Scenario, name = 'web/app'): readonly unknown[] => {
  const { role } = it.one(name);
  assert.ok(role.kind === 'container');
  const { cpuRequest, cpuLimit, memoryLimit } = role.resources ?? {};
  return [cpuRequest, cpuLimit, memoryLimit].map((amount) => amount?.canonical());
};

const conditionsOf = (it: Scenario, pod: Pod): readonly PodCondition[] =>
  (it.status(pod)?.conditions ?? []).filter(({ type }) => type.startsWith('PodResize'));

const shown = (it: Scenario, pod: Pod) => {
  const { resources, allocatedResources } = it.status(pod)?.containerStatuses?.[0] ?? {};
  return { resources, allocatedResources };
};

const resizeEvents = (it: Scenario): readonly string[] =>
  it.agent.events.filter(({ reason }) => reason.startsWith('Resize')).map(({ reason }) => reason);

/** A pod that runs and asks for more now, of which the engine never says whether it has it. */
async function hangingUpdate(it: Scenario): Promise<{ readonly id: string; readonly larger: Pod }> {
  it.declare(podOf('web'));
  await it.advance(1000);
  const { id } = it.one('web/app');
  it.engine.controls.hang('updateContainer');
  const larger = podOf('web', { cpu: '300m', generation: 2 });
  it.declare(larger);
  return { id, larger };
}

const both = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });

scenario('a running container gets more and less as it is: it is the same one, and status says what it has', async (it) => {
  it.declare(podOf('web'));
  await it.advance(1000);
  const before = it.one('web/app');
  assert.deepEqual(shown(it, podOf('web')), { resources: both('100m', '64Mi'), allocatedResources: { cpu: '100m', memory: '64Mi' } });

  const larger = podOf('web', { cpu: '500m', memory: '128Mi', generation: 2 });
  it.declare(larger);
  await it.advance(1000);
  assert.deepEqual(given(it), ['500m', '500m', '128Mi']);
  assert.deepEqual(shown(it, larger), { resources: both('500m', '128Mi'), allocatedResources: { cpu: '500m', memory: '128Mi' } });
  assert.equal(it.status(larger)?.observedGeneration, 2);

  const smaller = podOf('web', { cpu: '50m', memory: '64Mi', generation: 3 });
  it.declare(smaller);
  await it.advance(1000);
  assert.deepEqual(given(it), ['50m', '50m', '64Mi']);
  assert.deepEqual([it.one('web/app').id, it.one('web/app').state], [before.id, before.state]);
  assert.deepEqual(conditionsOf(it, smaller), []);
  assert.deepEqual(resizeEvents(it), ['ResizeStarted', 'ResizeCompleted', 'ResizeStarted', 'ResizeCompleted']);
  const [started] = it.agent.events.filter(({ reason }) => reason === 'ResizeStarted');
  const resources = '{"limits":{"cpu":"500m","memory":"128Mi"},"requests":{"cpu":"500m","memory":"128Mi"}}';
  assert.equal(started?.message, `Pod resize started: {"containers":[{"name":"app","resources":${resources}}],"generation":2}`);
});

scenario('the record of a resize says what was decided and what was done, memory before CPU', async (it) => {
  it.declare(podOf('web'));
  await it.advance(1000);
  const seen = it.records.length;
  it.declare(podOf('web', { cpu: '200m', memory: '128Mi', generation: 2 }));
  await it.advance(1000);
  const done = it.records
    .slice(seen)
    .flatMap(({ outcomes }) => outcomes.map(({ action }) => ('resource' in action ? `${action.do} ${action.resource}` : action.do)));
  assert.deepEqual(
    done.filter((action) => action !== 'prepare'),
    ['resize', 'updateContainer memory', 'updateContainer cpu'],
  );
});

scenario('a container is restarted for what its policy asks a restart for, and for nothing else', async (it) => {
  const policy = [
    { resourceName: 'cpu', restartPolicy: 'NotRequired' },
    { resourceName: 'memory', restartPolicy: 'RestartContainer' },
  ];
  it.declare(podOf('web', { policy }));
  await it.advance(1000);
  const first = it.one('web/app').id;
  it.declare(podOf('web', { policy, cpu: '200m', generation: 2 }));
  await it.advance(1000);
  assert.equal(it.one('web/app').id, first);
  const larger = podOf('web', { policy, cpu: '200m', memory: '128Mi', generation: 3 });
  it.declare(larger);
  await it.advance(5000);
  const second = it.one('web/app');
  assert.notEqual(second.id, first);
  assert.equal(second.attempt, 1);
  assert.deepEqual(given(it), ['200m', '200m', '128Mi']);
  assert.ok(it.agent.events.some(({ reason, message }) => reason === 'Killing' && message === 'Container app resize requires restart'));
  await it.advance(120_000);
  assert.equal(it.one('web/app').id, second.id, 'once');
  assert.deepEqual(conditionsOf(it, larger), []);
});

scenario('what does not fit is deferred, with the kubelet’s reason, and given once another pod has ended', async (it) => {
  it.allocatable = { cpu: '1', memory: '1Gi', pods: '10' };
  const other = aPodThat('other', {
    restartPolicy: 'Never',
    containers: [{ ...worker('work', 30), resources: { requests: { cpu: '600m' } } }],
  });
  it.declare(podOf('web'), other);
  await it.advance(1000);
  const larger = podOf('web', { cpu: '800m', generation: 2 });
  it.declare(larger, other);
  await it.advance(1000);
  assert.deepEqual(given(it), ['100m', '100m', '64Mi']);
  const [pending, ...more] = conditionsOf(it, larger);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [pending?.type, pending?.status, pending?.reason, pending?.observedGeneration],
    ['PodResizePending', 'True', 'Deferred', 2],
  );
  assert.equal(pending?.message, "Node didn't have enough resource: cpu, requested: 800, used: 600, capacity: 1000");
  assert.deepEqual(shown(it, larger).allocatedResources, { cpu: '100m', memory: '64Mi' });
  assert.deepEqual(resizeEvents(it), ['ResizeDeferred']);
  await it.advance(20_000);
  assert.deepEqual(given(it), ['100m', '100m', '64Mi']);
  await it.advance(10_000);
  assert.deepEqual(given(it), ['800m', '800m', '64Mi']);
  assert.deepEqual(conditionsOf(it, larger), []);
  assert.deepEqual(resizeEvents(it), ['ResizeDeferred', 'ResizeStarted', 'ResizeCompleted']);
});

for (const [what, free] of [
  ['is removed', (it: Scenario, web: Pod): void => it.declare(web)],
  ['asks for less', (it: Scenario, web: Pod): void => it.declare(web, podOf('other', { cpu: '100m', generation: 2 }))],
] as const)
  scenario(`what was deferred is given once another pod ${what}`, async (it) => {
    it.allocatable = { cpu: '1', memory: '1Gi', pods: '10' };
    it.declare(podOf('web'), podOf('other', { cpu: '600m' }));
    await it.advance(1000);
    const larger = podOf('web', { cpu: '800m', generation: 2 });
    it.declare(larger, podOf('other', { cpu: '600m' }));
    await it.advance(1000);
    assert.deepEqual(resizeEvents(it), ['ResizeDeferred']);
    free(it, larger);
    await it.advance(40_000);
    assert.deepEqual(given(it), ['800m', '800m', '64Mi']);
  });

scenario('a node that grows gives what was deferred, a few minutes later', async (it) => {
  it.allocatable = { cpu: '500m', memory: '1Gi', pods: '10' };
  it.declare(podOf('web'));
  await it.advance(1000);
  it.declare(podOf('web', { cpu: '800m', generation: 2 }));
  await it.advance(1000);
  it.allocatable = { cpu: '1', memory: '1Gi', pods: '10' };
  await it.advance(60_000);
  assert.deepEqual(given(it)[0], '100m');
  await it.advance(240_000);
  assert.deepEqual(given(it)[0], '800m');
});

scenario('a deferred resize that is taken back waits for nothing any more', async (it) => {
  it.allocatable = { cpu: '500m', memory: '1Gi', pods: '10' };
  it.declare(podOf('web'));
  await it.advance(1000);
  it.declare(podOf('web', { cpu: '800m', generation: 2 }));
  await it.advance(1000);
  const back = podOf('web', { generation: 3 });
  assert.equal(conditionsOf(it, back).length, 1);
  it.declare(back);
  await it.advance(1000);
  assert.deepEqual([conditionsOf(it, back), given(it)[0]], [[], '100m']);
});

scenario('a pod that comes finds what the others were given, not what they ask for', async (it) => {
  it.allocatable = { cpu: '1', memory: '1Gi', pods: '10' };
  it.declare(podOf('web', { cpu: '400m' }));
  await it.advance(1000);
  const deferred = podOf('web', { cpu: '1100m', generation: 2 });
  it.declare(deferred);
  await it.advance(1000);
  it.declare(deferred, podOf('fits', { cpu: '600m' }), podOf('late', { cpu: '100m' }));
  await it.advance(1000);
  assert.deepEqual(given(it, 'fits/app')[0], '600m');
  assert.equal(it.status(podOf('late'))?.reason, 'OutOfcpu');
});

scenario('an engine that refuses leaves the container as it is; the pod says why, once, and it is tried again', async (it) => {
  it.declare(podOf('web'));
  await it.advance(1000);
  const { id } = it.one('web/app');
  it.engine.controls.fail('updateContainer', new FakeEngineError('cannot decrease memory limits: in use'), 3);
  const smaller = podOf('web', { memory: '32Mi', generation: 2 });
  it.declare(smaller);
  await it.advance(100);
  const [condition] = conditionsOf(it, smaller);
  assert.deepEqual(
    [condition?.type, condition?.reason, condition?.message],
    ['PodResizeInProgress', 'Error', 'cannot decrease memory limits: in use'],
  );
  assert.deepEqual(shown(it, smaller), { resources: both('100m', '64Mi'), allocatedResources: { cpu: '100m', memory: '32Mi' } });
  await it.advance(60_000);
  assert.deepEqual([it.one('web/app').id, given(it)[2]], [id, '32Mi']);
  assert.deepEqual(conditionsOf(it, smaller), []);
  assert.deepEqual(resizeEvents(it), ['ResizeStarted', 'ResizeError', 'ResizeCompleted']);
});

scenario('a refusal whose number alone changes is reported once, another one again', async (it) => {
  it.declare(podOf('web'));
  await it.advance(1000);
  const smaller = podOf('web', { memory: '32Mi', generation: 2 });
  const refuse = async (message: string): Promise<void> => {
    const tried = it.records.length;
    it.engine.controls.fail('updateContainer', new FakeEngineError(message));
    while (!it.records.slice(tried).some(({ outcomes }) => outcomes.some(({ error }) => error?.includes(message)))) await it.advance(100);
  };
  it.declare(smaller);
  for (const used of [50_001, 50_002, 60_003]) {
    await refuse(`memory limit (33554432) below current usage (${used})`);
    assert.match(conditionsOf(it, smaller)[0]?.message ?? '', /current usage \(50001\)$/);
  }
  await refuse('no such cgroup');
  assert.equal(conditionsOf(it, smaller)[0]?.message, 'no such cgroup');
  assert.deepEqual(
    resizeEvents(it).filter((reason) => reason === 'ResizeError'),
    ['ResizeError', 'ResizeError'],
  );
});

scenario('an update that the engine never answers holds up neither other pods nor what the pod is to be next', async (it) => {
  it.declare(podOf('web'), podOf('going'));
  await it.advance(1000);
  const { id } = it.one('web/app');
  it.engine.controls.hang('updateContainer', 2);
  it.declare(podOf('web', { cpu: '200m', generation: 2 }), podOf('going', { cpu: '200m', generation: 2 }));
  await it.advance(1000);
  // One is resized again, one goes, and one comes.
  const again = podOf('web', { cpu: '300m', generation: 3 });
  it.declare(again, podOf('late'));
  await it.advance(35_000);
  assert.deepEqual(it.running(), ['late/POD', 'late/app', 'web/POD', 'web/app']);
  assert.deepEqual([it.one('web/app').id, given(it)[0], conditionsOf(it, again)], [id, '300m', []]);
});

scenario('an update that the engine never answers is given up, reported and made again', async (it) => {
  const { id, larger } = await hangingUpdate(it);
  await it.advance(60_000);
  assert.deepEqual(
    conditionsOf(it, larger).map(({ type, reason }) => [type, reason]),
    [['PodResizeInProgress', undefined]],
  );
  await it.advance(120_000);
  assert.deepEqual([it.one('web/app').id, given(it)[0], conditionsOf(it, larger)], [id, '300m', []]);
  assert.deepEqual(resizeEvents(it), ['ResizeStarted', 'ResizeError', 'ResizeCompleted']);
});

scenario('after a failed update nothing more is updated, and what is due is started all the same', async (it) => {
  const pod = (generation: number, cpu: string, memory: string): Pod => {
    const { metadata, spec } = podOf('web', { cpu, memory, generation });
    return { metadata, spec: { ...spec, containers: [...spec.containers, server('other')] } };
  };
  it.declare(pod(1, '100m', '64Mi'));
  await it.advance(1000);
  it.engine.controls.fail('updateContainer');
  it.kill('web/other', 1);
  it.declare(pod(2, '200m', '128Mi'));
  await it.advance(100);
  const failed = it.records.find(({ outcomes }) =>
    outcomes.some(({ action, error }) => action.do === 'updateContainer' && error !== undefined),
  );
  const done = failed?.outcomes.map(
    ({ action, error }) => `${action.do}${'resource' in action ? ` ${action.resource}` : ''}${error === undefined ? '' : ' failed'}`,
  );
  assert.deepEqual(
    done?.filter((each) => /update|start/.test(each)),
    ['updateContainer memory failed', 'startContainer'],
  );
  await it.advance(10_000);
  assert.deepEqual(given(it), ['200m', '200m', '128Mi']);
});

scenario(
  'init containers get what they ask for: the one that runs as it is, the next when it starts, the one that is done nothing',
  async (it) => {
    const pod = (cpu: string, generation: number): Pod => {
      const resources = { requests: { cpu }, limits: { cpu } };
      const init = (name: string, seconds: number): Container => ({ ...worker(name, seconds), resources });
      return aPodThat('web', { initContainers: [init('first', 5), init('second', 30), init('third', 30)] }, {}, { generation });
    };
    it.declare(pod('100m', 1));
    await it.advance(10_000);
    const { id } = it.one('web/second');
    assert.equal(given(it, 'web/second')[1], '100m');
    const larger = pod('300m', 2);
    it.declare(larger);
    await it.advance(1000);
    assert.deepEqual([it.one('web/second').id, given(it, 'web/second')[1]], [id, '300m']);
    const { initContainerStatuses } = it.status(larger) ?? {};
    assert.deepEqual(
      initContainerStatuses?.map(({ allocatedResources, restartCount }) => [allocatedResources?.['cpu'], restartCount]),
      [
        ['300m', 0],
        ['300m', 0],
        [undefined, 0],
      ],
    );
    assert.deepEqual(conditionsOf(it, larger), []);
    await it.advance(40_000);
    assert.equal(given(it, 'web/third')[1], '300m');
    assert.deepEqual(resizeEvents(it), ['ResizeStarted', 'ResizeCompleted']);
  },
);

scenario('a pod’s own limit is that of its containers without one, and changes as they run', async (it) => {
  const pod = (cpu: string, generation: number): Pod =>
    aPodThat('web', { resources: { requests: { cpu: '100m' }, limits: { cpu } }, containers: [server('app')] }, {}, { generation });
  it.declare(pod('300m', 1));
  await it.advance(1000);
  const { id } = it.one('web/app');
  assert.equal(given(it)[1], '300m');
  it.declare(pod('600m', 2));
  await it.advance(1000);
  assert.deepEqual([it.one('web/app').id, given(it)[1]], [id, '600m']);
  assert.deepEqual(conditionsOf(it, pod('600m', 2)), []);
});

scenario('an agent that starts goes on with what the pods were given', async (it) => {
  it.allocatable = { cpu: '1', memory: '1Gi', pods: '10' };
  it.declare(podOf('web'), podOf('other', { cpu: '600m' }));
  await it.advance(1000);
  const { id } = it.one('web/app');
  const middle = podOf('web', { cpu: '300m', generation: 2 });
  it.declare(middle, podOf('other', { cpu: '600m' }));
  await it.advance(1000);
  await it.stopAgent();
  // It asks for more than there is while no agent is there.
  const larger = podOf('web', { cpu: '800m', generation: 3 });
  await it.restartAgent();
  it.declare(larger, podOf('other', { cpu: '600m' }));
  await it.advance(5000);
  assert.deepEqual([it.one('web/app').id, given(it)[0]], [id, '300m']);
  assert.equal(conditionsOf(it, larger)[0]?.reason, 'Deferred');
  assert.deepEqual(shown(it, larger).allocatedResources, { cpu: '300m', memory: '64Mi' });
  it.declare(larger);
  await it.advance(40_000);
  assert.deepEqual([it.one('web/app').id, given(it)[0]], [id, '800m']);
});

scenario('an agent that starts finishes what the one before had allocated and not brought about', async (it) => {
  const { id, larger } = await hangingUpdate(it);
  await it.advance(1000);
  await it.restartAgent();
  it.declare(larger);
  await it.advance(5000);
  assert.deepEqual([it.one('web/app').id, given(it)[0]], [id, '300m']);
  assert.deepEqual(conditionsOf(it, larger), []);
});

scenario('an agent that finds nothing recorded of a container restarts none for it, and takes the rest from the engine', async (it) => {
  const policy = ['cpu', 'memory'].map((resourceName) => ({ resourceName, restartPolicy: 'RestartContainer' }));
  it.declare(podOf('web', { policy }), podOf('other'));
  await it.advance(1000);
  const ids = [it.one('web/app').id, it.one('other/app').id];
  await it.stopAgent();
  for (const name of ['web', 'other'])
    await it
      .podFiles(`uid-${name}` as PodUid)
      .open('resources.json', () => ({}))
      .save({});
  await it.restartAgent();
  it.declare(podOf('web', { policy }), podOf('other', { cpu: '200m', generation: 2 }));
  await it.advance(60_000);
  assert.deepEqual([it.one('web/app').id, it.one('other/app').id], ids);
  assert.deepEqual(given(it, 'other/app')[0], '200m');
});

/** A disk that can be full. */
class OnSomeDisk extends OfTheApi {
  isFull = false;
  override readonly podFiles: NodeParts['podFiles'] = ((disk) => (uid) => ({
    open: (name, decode) => {
      const file = disk(uid).open(name, decode);
      return { load: () => file.load(), save: (value) => (this.isFull ? Promise.reject(new Error('ENOSPC')) : file.save(value)) };
    },
  }))(podFilesInMemory());
}

test('what could not be written while the disk was full is written later: no container is restarted for what it has', async () => {
  const it = new OnSomeDisk();
  const policy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
  it.declare(podOf('web', { policy }));
  await it.advance(1000);
  it.isFull = true;
  const larger = podOf('web', { cpu: '300m', policy, generation: 2 });
  it.declare(larger);
  await it.advance(60_000);
  assert.equal(given(it)[0], '300m');
  const { id } = it.one('web/app');
  it.isFull = false;
  await it.advance(180_000);
  await it.restartAgent();
  it.declare(larger);
  await it.advance(60_000);
  assert.equal(it.one('web/app').id, id);
  await it.close();
});

class OnANodeWithSwap extends OfTheApi {
  override readonly options = { swapBehavior: 'LimitedSwap' };
}

scenarioOn(
  () => new OnANodeWithSwap(),
  'a container that may use swap gets no other memory as it is; one that asks for its limit, or is restarted for it, does',
  async (it) => {
    const sized = (name: string, memory: string, limit: string, restartPolicy: string, generation: number): Pod => {
      const resources = { requests: { cpu: '100m', memory }, limits: { cpu: '200m', memory: limit } };
      return aPodThat(
        name,
        { containers: [server('app', { resources, resizePolicy: [{ resourceName: 'memory', restartPolicy }] })] },
        {},
        { generation },
      );
    };
    const all = (memory: string, generation: number): readonly Pod[] => [
      sized('swapping', memory, '1Gi', 'NotRequired', generation),
      sized('restarting', memory, '1Gi', 'RestartContainer', generation),
      sized('limited', memory, memory, 'NotRequired', generation),
    ];
    it.declare(...all('64Mi', 1));
    await it.advance(1000);
    const larger = all('128Mi', 2);
    it.declare(...larger);
    await it.advance(40_000);
    const asked = larger.map((pod) => it.status(pod)?.containerStatuses?.[0]?.allocatedResources?.['memory']);
    assert.deepEqual(asked, ['64Mi', '128Mi', '128Mi']);
    const pending = larger.map((pod) => conditionsOf(it, pod).map(({ type, reason, message }) => [type, reason, message]));
    assert.deepEqual(pending, [[['PodResizePending', 'Infeasible', 'In-place resize of containers with swap is not supported.']], [], []]);
  },
);
