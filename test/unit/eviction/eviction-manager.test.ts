import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { EvictionManager, type EvictionSettings } from '../../../src/eviction/eviction-manager.ts';
import { parseThresholds } from '../../../src/model/eviction/parse-thresholds.ts';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import type { Given } from '../../../src/ports/contribution.ts';
import type { PodEnd } from '../../../src/ports/pod-ends.ts';
import type { Reclaimer } from '../../../src/ports/node-participant.ts';
import type { PodStats, PodUsage } from '../../../src/ports/pod-stats.ts';
import { type NodeUnderTest, nodeUnderTest, nothingGiven } from '../../builders/node-parts.ts';
import { GI, type LeftOnNode, MI, nodeUsage, plenty, podUsage } from '../../builders/node-usage.ts';
import { aPodThat } from '../../builders/pods-that.ts';

interface Scene extends NodeUnderTest {
  readonly manager: EvictionManager;
  /** The node has so much left from now on. */
  readonly left: (left: Partial<LeftOnNode>) => void;
  /** The pods use so much from now on; those of which nothing is said are not measured. */
  readonly use: (...usages: readonly PodUsage[]) => void;
  /** How the pods were measured. */
  readonly measured: readonly string[];
  /** What each pod was told, in the order of their ends. */
  readonly evicted: () => readonly string[];
  readonly conditions: () => readonly string[];
  readonly run: () => void;
}

interface Over {
  readonly hard?: Readonly<Record<string, string>>;
  readonly soft?: Readonly<Record<string, string>>;
  readonly grace?: Readonly<Record<string, string>>;
  readonly settings?: Partial<EvictionSettings>;
  readonly stats?: Partial<PodStats>;
  readonly reclaim?: readonly Reclaimer[];
  readonly participants?: Given['participants'];
  readonly ends?: NodeUnderTest['node']['ends'];
}

function setUp(t: TestContext, over: Over = {}): Scene {
  const scene = nodeUnderTest(over.ends ? { ends: over.ends } : {});
  let left: LeftOnNode = plenty;
  let usages: readonly PodUsage[] = [];
  const measured: string[] = [];
  const settings: EvictionSettings = {
    thresholds: parseThresholds({
      evictionHard: over.hard ?? {},
      evictionSoft: over.soft ?? {},
      evictionSoftGracePeriod: over.grace ?? {},
      evictionMinimumReclaim: {},
      enforceNodeAllocatable: [],
    }).thresholds,
    transitionMs: 60_000,
    maxPodGraceSeconds: 5,
    localStorageCapacityIsolation: true,
    ...over.settings,
  };
  const manager = new EvictionManager(scene.node, () => settings);
  const stats: PodStats = {
    node: async () => nodeUsage(left, scene.clock.now()),
    pods: async (_signal, how) => {
      measured.push(how ?? 'everything');
      return usages;
    },
    ...over.stats,
  };
  const stop = new AbortController();
  let running: Promise<void> = Promise.resolve();
  t.after(async () => {
    stop.abort(new Error('the test ends'));
    await running;
    scene.node.engine.close();
  });
  const given = { ...nothingGiven, stats, reclaim: over.reclaim ?? [], participants: over.participants ?? [] };
  return {
    ...scene,
    manager,
    measured,
    left: (more) => (left = { ...left, ...more }),
    use: (...some) => (usages = some),
    evicted: () => [...scene.ended].map(([uid, { graceSeconds }]) => `${uid} ${graceSeconds ?? 'own'}`),
    conditions: () => manager.conditions().flatMap(({ type, status }) => (status === 'True' ? [type] : [])),
    run: () => {
      running = manager.run(given, stop.signal);
    },
  };
}

const ended = (scene: Pick<NodeUnderTest, 'setStatus'>, ...pods: readonly Pod[]): void => {
  for (const pod of pods) scene.setStatus(pod, { phase: 'Failed', reason: 'Evicted' });
};
const [small, large] = [aPodThat('small'), aPodThat('large')];
const hard = { 'memory.available': '1Gi' };

test('below a hard threshold the pod that uses most goes, told why, and no other until nothing of it is left', async (t) => {
  const scene = setUp(t, { hard });
  scene.declare(small, large);
  scene.use(podUsage('small', { memory: 100 * MI }), podUsage('large', { memory: 300 * MI }));
  scene.run();
  await scene.clock.advance(10_000);
  assert.deepEqual([scene.evicted(), scene.conditions(), scene.measured], [[], [], []]);
  scene.left({ memory: 512 * MI });
  await scene.clock.advance(10_000);
  assert.deepEqual(scene.evicted(), ['uid-large 1']);
  assert.deepEqual(scene.measured, ['cpuAndMemory']);
  assert.deepEqual(scene.conditions(), ['MemoryPressure']);
  const message =
    'The node was low on resource: memory. Threshold quantity: 1Gi, available: 512Mi. Container app was using 300Mi, request is 0, has larger consumption of memory. ';
  assert.deepEqual(scene.ended.get(large.metadata.uid), { reason: 'Evicted', message, graceSeconds: 1 });
  assert.deepEqual(
    scene.events.map(({ about, reason, message: said }) => [about, reason, said]),
    [
      ['n1', 'EvictionThresholdMet', 'Attempting to reclaim memory'],
      ['large', 'Evicted', message],
    ],
  );
  const signal = 'memory.available';
  assert.deepEqual(
    scene.happened.map(({ name, what }) => [name, what]),
    [
      ['evictionStatsUsed', { signal, ageMs: 0 }],
      ['podEvicted', { uid: large.metadata.uid, signal }],
    ],
  );
  await scene.clock.advance(20_000);
  assert.equal(scene.ended.size, 1, 'the first has not ended yet');
  ended(scene, large);
  scene.left({ memory: 2 * GI });
  await scene.clock.advance(30_000);
  assert.equal(scene.ended.size, 1);
});

test('a pod whose end takes for ever is waited for, but the node does not go down for it', async (t) => {
  const scene = setUp(t, { hard });
  scene.declare(small, large);
  scene.use(podUsage('small', { memory: 100 * MI }), podUsage('large', { memory: 300 * MI }));
  scene.left({ memory: 512 * MI });
  scene.run();
  await scene.clock.advance(29_000);
  assert.equal(scene.ended.size, 1);
  await scene.clock.advance(5_000);
  assert.deepEqual(scene.evicted(), ['uid-large 1', 'uid-small 1']);
  assert.equal(scene.log.count('the evicted pod is not over yet, looking on'), 1);
});

test('what is left of a pod is waited for: its volumes, too', async (t) => {
  let remains: string | undefined = 'volumes';
  const scene = setUp(t, { hard, participants: [{ name: 'volumes', pod: { remains: async () => remains } }] });
  scene.declare(small, large);
  scene.left({ memory: 512 * MI });
  scene.run();
  await scene.clock.advance(0);
  assert.equal(scene.ended.size, 1);
  ended(scene, small);
  await scene.clock.advance(20_000);
  assert.equal(scene.ended.size, 1);
  remains = undefined;
  await scene.clock.advance(3_000);
  assert.equal(scene.ended.size, 2);
});

test('what is left of a pod that was deleted meanwhile is waited for as well', async (t) => {
  let remains: string | undefined = 'volumes';
  const participants = [{ name: 'volumes', pod: { remains: async () => remains } }];
  const scene = setUp(t, { hard, participants });
  scene.declare(small, large);
  scene.left({ memory: 512 * MI });
  scene.run();
  await scene.clock.advance(0);
  scene.withdraw(small);
  await scene.clock.advance(5_000);
  assert.equal(scene.ended.size, 1);
  remains = undefined;
  await scene.clock.advance(3_000);
  assert.equal(scene.ended.size, 2);
});

for (const [maxPodGraceSeconds, ownSeconds, expected] of [
  [5, 30, '5'],
  [5, 2, '2'],
  [0, 30, '0'],
  [-1, 30, 'own'],
] as const)
  test(`below a soft threshold, of at most ${maxPodGraceSeconds} s and the pod's own ${ownSeconds} s it has ${expected}, and not before the grace period is over`, async (t) => {
    const scene = setUp(t, {
      soft: { 'memory.available': '1Gi' },
      grace: { 'memory.available': '15s' },
      settings: { maxPodGraceSeconds },
    });
    scene.declare(aPodThat('web', { terminationGracePeriodSeconds: ownSeconds }));
    scene.left({ memory: 512 * MI });
    scene.run();
    await scene.clock.advance(14_900);
    assert.deepEqual([scene.evicted(), scene.conditions()], [[], ['MemoryPressure']]);
    await scene.clock.advance(1_100);
    assert.deepEqual(scene.evicted(), [`uid-web ${expected}`]);
  });

test('while a pod has its grace period below a soft threshold no other goes; below a hard one it goes at once, before any other', async (t) => {
  const told: string[] = [];
  const ends = new Map<PodUid, PodEnd>();
  const scene = setUp(t, {
    hard: { 'memory.available': '100Mi' },
    soft: { 'memory.available': '1Gi' },
    grace: { 'memory.available': '15s' },
    settings: { maxPodGraceSeconds: 600 },
    ends: {
      end: (uid, end) => {
        told.push(`${uid} ${end.graceSeconds ?? 'own'}`);
        ends.set(uid, end);
      },
      of: (uid) => ends.get(uid),
      startOver: () => {},
    },
  });
  const [first, other] = [small, large].map((pod) => ({ ...pod, spec: { ...pod.spec, terminationGracePeriodSeconds: 300 } }));
  assert.ok(first && other);
  scene.declare(first, other);
  scene.use(podUsage('small', { memory: 300 * MI }), podUsage('large', { memory: 100 * MI }));
  scene.left({ memory: 512 * MI });
  scene.run();
  await scene.clock.advance(300_000);
  assert.deepEqual(told, ['uid-small 300']);
  scene.left({ memory: 50 * MI });
  await scene.clock.advance(12_000);
  assert.deepEqual(told, ['uid-small 300', 'uid-small 1']);
  ended(scene, first);
  await scene.clock.advance(3_000);
  assert.deepEqual(told, ['uid-small 300', 'uid-small 1', 'uid-large 1']);
});

test('a pod that does not end half as long again as its grace period keeps no other from going below a soft threshold', async (t) => {
  const scene = setUp(t, {
    soft: { 'memory.available': '1Gi' },
    grace: { 'memory.available': '15s' },
    settings: { maxPodGraceSeconds: 100 },
  });
  scene.declare(small, large);
  scene.use(podUsage('small', { memory: 300 * MI }), podUsage('large', { memory: 100 * MI }));
  scene.left({ memory: 512 * MI });
  scene.run();
  await scene.clock.advance(60_000);
  assert.equal(scene.ended.size, 1);
  await scene.clock.advance(90_000);
  assert.equal(scene.ended.size, 2);
});

test('a soft threshold that is met no more in between begins anew', async (t) => {
  const scene = setUp(t, { soft: { 'memory.available': '1Gi' }, grace: { 'memory.available': '15s' } });
  scene.declare(small);
  scene.left({ memory: 512 * MI });
  scene.run();
  await scene.clock.advance(12_000);
  scene.left({ memory: 2 * GI });
  await scene.clock.advance(4_000);
  scene.left({ memory: 512 * MI });
  await scene.clock.advance(12_000);
  assert.deepEqual(scene.evicted(), []);
});

test('critical and static pods stay, whatever they use', async (t) => {
  const scene = setUp(t, { hard });
  const critical = aPodThat('critical', { priority: 2_000_000_000 });
  const fromFile = aPodThat('file', {}, {}, { annotations: { 'kubernetes.io/config.source': 'file' } });
  scene.declare(critical);
  scene.declare(fromFile);
  scene.left({ memory: MI });
  scene.run();
  await scene.clock.advance(60_000);
  assert.deepEqual([scene.evicted(), scene.measured], [[], []]);
  scene.declare(small);
  await scene.clock.advance(10_000);
  assert.deepEqual(scene.evicted(), ['uid-small 1']);
});

test('a pressure is told as soon as it is there, and stays for the transition period', async (t) => {
  const scene = setUp(t, { hard: { 'pid.available': '10%' } });
  let told = 0;
  scene.manager.changes.subscribe(() => told++);
  assert.deepEqual(scene.manager.conditions(), [], 'nothing is known before the first look');
  scene.run();
  await scene.clock.advance(0);
  assert.deepEqual(
    scene.manager.conditions().map(({ type, status }) => `${type} ${status}`),
    ['MemoryPressure False', 'DiskPressure False', 'PIDPressure False'],
  );
  assert.equal(told, 1);
  scene.left({ pids: 99 });
  await scene.clock.advance(10_000);
  assert.deepEqual([scene.conditions(), told], [['PIDPressure'], 2]);
  scene.left({ pids: 900 });
  // It was there at the last look before.
  await scene.clock.advance(50_000);
  assert.deepEqual(scene.conditions(), ['PIDPressure']);
  await scene.clock.advance(20_000);
  assert.deepEqual([scene.conditions(), told], [[], 3]);
  assert.equal(scene.log.count('the node is short of something'), 1);
});

test('without a transition period a pressure is told for as long as it is there', async (t) => {
  const scene = setUp(t, { hard, settings: { transitionMs: 0 } });
  scene.left({ memory: MI });
  scene.run();
  await scene.clock.advance(20_000);
  assert.deepEqual(scene.conditions(), ['MemoryPressure']);
  scene.left({ memory: 2 * GI });
  await scene.clock.advance(10_000);
  assert.deepEqual(scene.conditions(), []);
});

test('setting the date, back or forward, changes nothing', async (t) => {
  const scene = setUp(t, { soft: { 'memory.available': '1Gi' }, grace: { 'memory.available': '15s' } });
  scene.declare(small);
  scene.left({ memory: 512 * MI });
  scene.run();
  await scene.clock.advance(5_000);
  scene.clock.moveDate(-3_600_000);
  await scene.clock.advance(5_000);
  scene.clock.moveDate(7_200_000);
  await scene.clock.advance(4_000);
  assert.deepEqual(scene.evicted(), []);
  await scene.clock.advance(2_000);
  assert.deepEqual(scene.evicted(), ['uid-small 1'.replace('1', '5')]);
  ended(scene, small);
  scene.left({ memory: 2 * GI });
  scene.clock.moveDate(-7_200_000);
  await scene.clock.advance(55_000);
  assert.deepEqual(scene.conditions(), ['MemoryPressure']);
  await scene.clock.advance(20_000);
  assert.deepEqual(scene.conditions(), []);
});

const containers: Reclaimer = { name: 'containers', resource: 'containerfs', reclaim: async () => 5 };
const disk = { 'nodefs.available': '10%' };

test('what no pod needs is freed before a pod goes, and none goes where that is enough', async (t) => {
  const freed: string[] = [];
  const freeing = (name: string, resource: Reclaimer['resource'], then: () => void = () => {}): Reclaimer => ({
    name,
    resource,
    reclaim: async () => {
      freed.push(name);
      then();
      return 1;
    },
  });
  const helps = { yes: true };
  const scene = setUp(t, {
    hard: disk,
    reclaim: [
      freeing('images', 'imagefs', () => (helps.yes ? scene.left({ nodeFs: 20 * GI }) : undefined)),
      freeing('containers', 'containerfs'),
      freeing('logs', 'nodefs'),
    ],
  });
  scene.declare(small, large);
  scene.use(podUsage('small', { disk: 5 * MI }), podUsage('large', { disk: 10 * MI }));
  scene.run();
  scene.left({ nodeFs: 9 * GI });
  await scene.clock.advance(11_000);
  assert.deepEqual([freed, scene.evicted(), scene.conditions()], [['logs', 'containers', 'images'], [], ['DiskPressure']]);
  helps.yes = false;
  scene.left({ nodeFs: 9 * GI });
  await scene.clock.advance(11_000);
  assert.deepEqual([freed.length, scene.evicted(), scene.measured], [6, ['uid-large 1'], ['afresh']]);
});

test('what was freed is logged with its bytes where they are known', async (t) => {
  const unmeasured: Reclaimer = { name: 'dead containers', resource: 'nodefs', reclaim: async () => undefined };
  const scene = setUp(t, { hard: disk, reclaim: [unmeasured, containers] });
  scene.declare(small);
  scene.run();
  scene.left({ nodeFs: 9 * GI });
  await scene.clock.advance(11_000);
  assert.deepEqual(
    scene.log.lines.filter(({ message }) => message === 'freed what no pod needs').map(({ fields }) => fields),
    [
      { resource: 'nodefs', by: 'dead containers' },
      { resource: 'containerfs', by: 'containers', freedBytes: 5 },
    ],
  );
});

test('a reclaimer that hangs, or fails, keeps no pod from going, and one that hangs is not begun twice', async (t) => {
  let begun = 0;
  const hangs: Reclaimer = {
    name: 'hangs',
    resource: 'nodefs',
    reclaim: () => {
      begun++;
      return new Promise(() => {});
    },
  };
  const fails: Reclaimer = { name: 'fails', resource: 'containerfs', reclaim: () => Promise.reject(new Error('no')) };
  const scene = setUp(t, { hard: disk, reclaim: [hangs, fails, containers] });
  scene.declare(small, large);
  scene.left({ nodeFs: GI });
  scene.run();
  await scene.clock.advance(119_000);
  assert.equal(scene.ended.size, 0);
  await scene.clock.advance(3_000);
  assert.equal(scene.ended.size, 1);
  ended(scene, small);
  await scene.clock.advance(10_000);
  assert.equal(scene.ended.size, 2);
  assert.equal(begun, 1);
  assert.equal(scene.log.count('what no pod needs cannot be freed, going on without'), 3);
});

test('numbers that cannot be are said once, and nobody pays for them', async (t) => {
  const scene = setUp(t, { hard: { ...hard, ...disk, 'pid.available': '10%', 'nodefs.inodesFree': '5%' } });
  scene.declare(small);
  scene.left({ nodeFs: Number.NaN, memory: -1, nodeFsInodes: 2_000, pids: 900 });
  scene.run();
  await scene.clock.advance(60_000);
  assert.deepEqual([scene.evicted(), scene.conditions()], [[], []]);
  const said = scene.log.lines.filter(({ message }) => message === 'not watched: the numbers cannot be used');
  assert.deepEqual(
    said.map(({ fields }) => [fields['signal'], fields['found']]),
    [
      ['memory.available', '-1 of 8589934592 available'],
      ['nodefs.available', 'NaN of 107374182400 available'],
      ['nodefs.inodesFree', '2000 of 1000 available'],
    ],
  );
});

test('while nothing can be measured nothing is evicted, pressures stay as they were, and it is said once', async (t) => {
  let hangs = false;
  const scene = setUp(t, {
    hard,
    stats: { node: () => (hangs ? new Promise(() => {}) : Promise.resolve(nodeUsage({ ...plenty, memory: MI }, scene.clock.now()))) },
  });
  scene.run();
  await scene.clock.advance(0);
  scene.declare(small);
  hangs = true;
  await scene.clock.advance(600_000);
  assert.deepEqual([scene.evicted(), scene.conditions()], [[], ['MemoryPressure']]);
  assert.equal(scene.log.count('not measured: nothing is evicted for it until it is'), 1);
  hangs = false;
  await scene.clock.advance(30_000);
  assert.deepEqual(scene.evicted(), ['uid-small 1']);
});

for (const [how, pods] of [
  ['hang', () => new Promise<never>(() => {})],
  ['fail', () => Promise.reject(new Error('the engine is down'))],
] as const)
  test(`where measurements of pods ${how}, no pod goes for what nobody knows`, async (t) => {
    const scene = setUp(t, { hard, stats: { pods } });
    scene.declare(small, large);
    scene.left({ memory: MI });
    scene.run();
    await scene.clock.advance(120_000);
    assert.deepEqual([scene.evicted(), scene.conditions()], [[], ['MemoryPressure']]);
  });

test('pods that exceed a limit of their own go, all of them, by what is counted afresh, without condition DisruptionTarget', async (t) => {
  const limited = (name: string): Pod =>
    aPodThat(name, { containers: [{ name: 'app', resources: { limits: { 'ephemeral-storage': '10Mi' } } }] });
  const [a, b, c] = [limited('a'), limited('b'), limited('c')];
  const [atLimit, above] = [10 * MI, 10 * MI + 1];
  const counted = { afresh: false };
  const scene: Scene = setUp(t, {
    stats: {
      pods: async (_signal, how) => {
        counted.afresh ||= how === 'afresh';
        // What "c" has removed meanwhile is still in the last count.
        const ofC = how === 'afresh' ? 1 : above;
        return [
          podUsage('a', { disk: above }),
          podUsage('b', { disk: atLimit }),
          podUsage('c', { disk: ofC }),
          podUsage('d', { disk: above }),
        ];
      },
    },
  });
  scene.declare(b, c, aPodThat('d'));
  scene.run();
  await scene.clock.advance(10_000);
  assert.deepEqual([scene.evicted(), counted.afresh], [[], true]);
  scene.declare(a);
  await scene.clock.advance(10_000);
  assert.deepEqual(
    [...scene.ended],
    [
      [
        a.metadata.uid,
        {
          reason: 'Evicted',
          message: 'Pod ephemeral local storage usage exceeds the total limit of containers 10Mi. ',
          graceSeconds: 1,
          condition: false,
        },
      ],
    ],
  );
  assert.deepEqual(
    scene.happened.map(({ name, what }) => [name, what]),
    [['podEvicted', { uid: a.metadata.uid, signal: 'ephemeralpodfs.limit' }]],
  );
});

test('without thresholds the node is not measured, is short of nothing, and pods are held to their own limits', async (t) => {
  let looks = 0;
  const scene: Scene = setUp(t, {
    stats: {
      node: async () => {
        looks++;
        return nodeUsage(plenty, scene.clock.now());
      },
    },
  });
  scene.left({ memory: 1 });
  scene.run();
  await scene.clock.advance(60_000);
  assert.deepEqual([looks, scene.manager.conditions().map(({ status }) => status)], [0, ['False', 'False', 'False']]);
  const limited = aPodThat('a', { containers: [{ name: 'app', resources: { limits: { 'ephemeral-storage': '1Mi' } } }] });
  scene.declare(limited);
  scene.use(podUsage('a', { disk: GI }));
  await scene.clock.advance(60_000);
  // Once, for the file systems that the limit is about.
  assert.deepEqual([looks, scene.evicted()], [1, ['uid-a 1']]);
});

test('without local storage isolation nobody is held to a limit of local storage', async (t) => {
  const scene = setUp(t, { settings: { localStorageCapacityIsolation: false } });
  scene.declare(aPodThat('a', { containers: [{ name: 'app', resources: { limits: { 'ephemeral-storage': '1Mi' } } }] }));
  scene.use(podUsage('a', { disk: GI }));
  scene.run();
  await scene.clock.advance(60_000);
  assert.deepEqual([scene.evicted(), scene.measured], [[], []]);
});

test('among a thousand pods the right one goes, and one look is enough', async (t) => {
  const scene = setUp(t, { hard });
  const names = Array.from({ length: 1000 }, (_, index) => `p${index}`);
  scene.declare(...names.map((name) => aPodThat(name)));
  scene.use(...names.map((name, index) => podUsage(name, { memory: index === 777 ? 50 * MI : index * 1024 })));
  scene.left({ memory: MI });
  scene.run();
  await scene.clock.advance(0);
  assert.deepEqual(scene.evicted(), ['uid-p777 1']);
});

test('images on a disk of their own: only what lies there is freed and counted for it', async (t) => {
  const freed: string[] = [];
  const reclaimer = (resource: Reclaimer['resource']): Reclaimer => ({
    name: resource,
    resource,
    reclaim: async () => {
      freed.push(resource);
      return 0;
    },
  });
  const scene = setUp(t, {
    hard: { 'imagefs.available': '15%', 'nodefs.available': '10%' },
    reclaim: [reclaimer('nodefs'), reclaimer('imagefs'), reclaimer('containerfs')],
  });
  scene.declare(small, large);
  scene.use(podUsage('small', { disk: 5 * MI }), podUsage('large', { disk: 10 * MI }));
  scene.left({ nodeFs: 50 * GI, imageFs: 14 * GI });
  scene.run();
  await scene.clock.advance(2_000);
  assert.deepEqual([freed, scene.evicted()], [['containerfs', 'imagefs'], ['uid-large 1']]);
  assert.match(
    scene.ended.get('uid-large' as PodUid)?.message ?? '',
    /^The node was low on resource: ephemeral-storage\. Threshold quantity: /,
  );
});

test('many pods over their limits are waited for together: the node is looked at as soon as for one', async (t) => {
  const limited = Array.from({ length: 20 }, (_, i) =>
    aPodThat(`p${i}`, { containers: [{ name: 'app', resources: { limits: { 'ephemeral-storage': '10Mi' } } }] }),
  );
  const scene = setUp(t, { hard });
  scene.declare(...limited, small);
  scene.use(...limited.map(({ metadata }) => podUsage(metadata.name, { disk: 11 * MI })), podUsage('small', { memory: MI }));
  scene.run();
  await scene.clock.advance(1_000);
  assert.equal(scene.ended.size, 20);
  scene.left({ memory: 512 * MI });
  await scene.clock.advance(35_000);
  assert.equal(scene.evicted().at(-1), 'uid-small 1');
});

test('usage that is no number is above no limit, and a look that fails is not the last one', async (t) => {
  const pod = aPodThat('web', { containers: [{ name: 'app', resources: { limits: { 'ephemeral-storage': '10Mi' } } }] });
  const found = { left: undefined as number | undefined };
  const scene = setUp(t, {
    hard,
    participants: [],
    stats: { pods: async () => [podUsage('web', { disk: Number.NaN })] },
    reclaim: [],
    ends: {
      end: () => {
        if (found.left === undefined) throw new Error('not now');
        found.left++;
      },
      of: () => undefined,
      startOver: () => {},
    },
  });
  scene.declare(pod);
  scene.run();
  await scene.clock.advance(60_000);
  assert.equal(scene.log.count('a look at what the node is short of failed, looking again'), 0);
  scene.left({ memory: MI });
  await scene.clock.advance(20_000);
  assert.ok(scene.log.count('a look at what the node is short of failed, looking again') > 0);
  found.left = 0;
  await scene.clock.advance(20_000);
  assert.ok(found.left > 0);
});
