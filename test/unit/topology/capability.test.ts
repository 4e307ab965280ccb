import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { silentLogger } from '../../../src/base/logger.ts';
import { ContainerAllocateResponseSchema } from '../../../src/deviceplugins/api/deviceplugin_pb.js';
import { DeviceAllocations } from '../../../src/deviceplugins/device-allocations.ts';
import { DeviceInventory } from '../../../src/deviceplugins/device-inventory.ts';
import { DeviceManager } from '../../../src/deviceplugins/device-manager.ts';
import type { TopologyHintProvider } from '../../../src/ports/topology-hint-provider.ts';
import { NodeUse } from '../../../src/model/node-use.ts';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { type AligningAgent, aligningAgent, type AligningWorld, aRootDir as directory } from '../../builders/aligning-agent.ts';
import type { MachineShape } from '../../builders/machine.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';

const { signal } = new AbortController();
/** Nodes: 0-3,8-11 and 4-7,12-15. */
const server: MachineShape = { sockets: 2, cores: 4, threads: 2 };

const agent = (t: TestContext, options: Partial<KubeletOptions> = {}, world: Partial<AligningWorld> = {}): Promise<AligningAgent> =>
  aligningAgent(t, { cpuManagerPolicy: 'static', reservedSystemCpus: '0', ...options }, { shape: server, ...world });

const asking = (name: string, cpu: string) =>
  aContainer(name, { resources: { requests: { cpu, memory: '1Mi' }, limits: { cpu, memory: '1Mi' } } });
const pod = (name: string, ...cpus: readonly string[]): Pod =>
  aPod(name, { containers: cpus.map((cpu, index) => asking(`c${index}`, cpu)) });
const stateOf = async ({ rootDir }: AligningAgent): Promise<object> =>
  JSON.parse(await readFile(join(rootDir, 'cpu_manager_state'), 'utf8'));

test('a Guaranteed pod has CPUs of its own until it is released, all others the rest', async (t) => {
  const node = await agent(t);
  const services = node.begin();
  t.after(services.stop);
  const [own, other] = [pod('own', '2'), pod('other', '500m')];
  node.declare(own, other);
  assert.equal(await node.admit(other), 'c0 0-15');
  assert.equal(await node.admit(own), 'c0 1,9');
  assert.equal(node.cpusOf(other), 'c0 0,2-8,10-15');
  const { assigned } = node.contribution;
  const tellsOf = [own, other].map(({ metadata: { uid } }) => assigned?.cpus?.(uid, 'c0'));
  assert.deepEqual([tellsOf, assigned?.allocatableCpus?.().length], [[[1, 9], []], 15]);
  assert.deepEqual(node.woken, ['uid-own resources changed', 'uid-other resources changed']);
  const [container = aContainer('none')] = other.spec.containers;
  const making = { env: new Map(), podIps: async () => [] };
  assert.deepEqual(await node.contribution.pod?.container?.(other, container, making, signal), { cpuset: '0,2-8,10-15' });
  const told = node.happened.flatMap(({ name, what }) =>
    name === 'cpusAssigned' ? [[what.available, [...what.exclusive.values()].join()]] : [],
  );
  assert.deepEqual(told, [
    [15, '0,0'],
    [13, '2,0'],
  ]);
  const { checksum, ...state } = { checksum: 0, ...(await stateOf(node)) };
  assert.deepEqual(state, { policyName: 'static', defaultCpuSet: '0,2-8,10-15', entries: { 'uid-own': { c0: '1,9' } } });
  assert.ok(checksum > 0);
  await node.contribution.pod?.release?.(own.metadata.uid, signal);
  assert.equal(node.cpusOf(other), 'c0 0-15');
  assert.equal(node.woken.length, 4);
  await node.contribution.pod?.release?.(own.metadata.uid, signal);
  assert.equal(node.woken.length, 4, 'nothing has changed');
});

test('what ended for good and stays declared has no CPUs any more', async (t) => {
  const node = await agent(t);
  t.after(node.begin().stop);
  const own = pod('own', '2');
  await node.admit(own);
  await node.contribution.pod?.tearDown?.(own.metadata.uid, signal);
  assert.equal(node.cpusOf(own), 'c0 0-15');
});

test('an agent that begins again goes on with what it gave, and releases what is gone', async (t) => {
  const before = await agent(t);
  t.after(before.begin().stop);
  const [stays, gone] = [pod('stays', '2'), pod('gone', '4')];
  await before.admit(gone);
  assert.equal(await before.admit(stays), 'c0 3,11');
  const lives = { isHeld: () => false, wasFound: (uid: PodUid) => uid === stays.metadata.uid };
  const after = await agent(t, {}, { rootDir: before.rootDir, over: { lives } });
  assert.equal(after.cpusOf(gone), 'c0 1-2,9-10', 'nothing is released before all sources have spoken');
  t.after(after.begin().stop);
  after.declare(stays);
  while (!JSON.stringify(await stateOf(after)).includes('"defaultCpuSet":"0-2,4-10,12-15"')) await setImmediate();
  assert.equal(after.cpusOf(stays), 'c0 3,11');
  assert.equal(await after.admit(stays), 'c0 3,11', 'also where it is admitted again');
});

test('what runs and has no CPUs of its own yet gets them when the agent begins', async (t) => {
  const lives = { isHeld: () => false, wasFound: () => true };
  const node = await agent(t, {}, { over: { lives } });
  const [runs, tooLarge] = [pod('runs', '2'), pod('too-large', '15')];
  node.declare(runs, tooLarge);
  const stays = node.log.next('a running pod stays without CPUs and memory of its own');
  const services = node.begin();
  t.after(services.stop);
  await stays;
  assert.equal(node.cpusOf(runs), 'c0 1,9');
  assert.equal(node.cpusOf(tooLarge), 'c0 0,2-8,10-15');
});

test('what cannot be written down is not given', async (t) => {
  const failing = { open: () => ({ load: () => undefined, save: () => Promise.reject(new Error('no space left on device')) }) };
  const node = await agent(t, {}, { over: { files: failing } });
  t.after(node.begin().stop);
  const own = pod('own', '2');
  await assert.rejects(node.admit(own), /no space left on device/);
  await node.contribution.pod?.release?.(own.metadata.uid, signal);
  assert.equal(node.cpusOf(own), 'c0 0-15');
  assert.equal(await node.admit(pod('other', '500m')), 'c0 0-15', 'who asks for nothing is given nothing');
});

for (const [policy, scope, cpus, expected] of [
  ['none', 'container', ['6', '6'], 'c0 1-3,9-11, c1 4-6,12-14'],
  ['best-effort', 'container', ['8', '7'], 'c0 4-7,12-15, c1 1-3,8-11'],
  ['restricted', 'container', ['8', '7'], 'c0 4-7,12-15, c1 1-3,8-11'],
  ['restricted', 'container', ['7', '8'], 'c0 1-3,8-11, c1 4-7,12-15'],
  ['restricted', 'container', ['7', '7', '1'], 'c0 1-3,8-11, c1 4-7,12-14, c2 15'],
  ['restricted', 'container', ['6', '6', '3'], 'TopologyAffinityError: Resources cannot be allocated with Topology locality'],
  ['restricted', 'pod', ['6', '6', '3'], 'c0 1-3,9-11, c1 4-6,12-14, c2 7-8,15'],
  ['single-numa-node', 'container', ['9'], 'TopologyAffinityError: Resources cannot be allocated with Topology locality'],
  ['single-numa-node', 'pod', ['4', '5'], 'TopologyAffinityError: Resources cannot be allocated with Topology locality'],
  ['single-numa-node', 'pod', ['4', '4'], 'c0 4-5,12-13, c1 6-7,14-15'],
] as const)
  test(`topology policy ${policy} for each ${scope}: ${cpus.join(' and ')} CPUs`, async (t) => {
    const node = await agent(t, { topologyManagerPolicy: policy, topologyManagerScope: scope });
    t.after(node.begin().stop);
    assert.equal(await node.admit(pod('a', ...cpus)), expected);
    assert.equal((await node.admit(pod('b', '500m'))) !== '', true);
  });

test('devices are aligned with CPUs: what no single node has of both is refused', async (t) => {
  const inventory = new DeviceInventory();
  inventory.connected('example.com/gpu');
  inventory.list('example.com/gpu', [{ id: 'g', healthy: true, nodes: [1] }]);
  const allocations = new DeviceAllocations();
  const response = create(ContainerAllocateResponseSchema);
  const plugin = { allocate: async () => ({ containerResponses: [response] }) };
  const devices = new DeviceManager({
    inventory,
    allocations,
    plugins: { get: () => ({ plugin, options: { preStartRequired: false, getPreferredAllocationAvailable: false } }) as never },
    save: async () => {},
    numaNodes: () => [0, 1],
    log: silentLogger,
    clock: new FakeClock(),
    tell: silentHappenings,
  });
  const hints: TopologyHintProvider = {
    hints: (of, container) => devices.hints(of, container),
    podHints: (of) => devices.podHints(of),
    allocate: (of, container, { nodes }, until) => devices.allocate(of, container, nodes, until),
  };
  for (const topologyManagerScope of ['container', 'pod']) {
    const node = await agent(t, { topologyManagerPolicy: 'single-numa-node', topologyManagerScope }, { hints: [hints] });
    t.after(node.begin().stop);
    const amounts = { cpu: '2', memory: '1Mi', 'example.com/gpu': '1' };
    const gpu = aPod('gpu', { containers: [aContainer('c0', { resources: { requests: amounts, limits: amounts } })] });
    assert.equal(await node.admit(gpu), 'c0 4,12', "the CPUs are of the device's node");
    assert.deepEqual([...(allocations.of(gpu.metadata.uid, 'c0')?.get('example.com/gpu')?.byNode ?? [])], [[1, ['g']]]);
    const another = aPod('another', { containers: gpu.spec.containers });
    assert.match(await node.admit(another), /^TopologyAffinityError/);
    await devices.release(gpu.metadata.uid);
  }
});

for (const [what, options, shape, fault] of [
  ['nothing is reserved', { reservedSystemCpus: '' }, server, /needs a reservation of CPU/],
  ['reserved CPUs that are not there', { reservedSystemCpus: '15-16' }, server, /15-16 names CPUs that are not online here: 0-15 are/],
  [
    'more NUMA nodes than are allowed for',
    { topologyManagerPolicy: 'restricted' },
    { nodes: 9, cores: 1 },
    /goes with at most 8 NUMA nodes, and this machine has 9/,
  ],
] as const)
  test(`the agent does not start: ${what}`, async (t) => {
    await assert.rejects(agent(t, options, { shape }), fault);
  });

for (const [what, text, fault] of [
  ['half of it', '{"policyName":"static","defaultCpu', /JSON/],
  ['nothing', '', /Unexpected end of JSON input/],
  ['no JSON', '\0\0\0\0', /JSON/],
  [
    'of another policy',
    '{"policyName":"none","defaultCpuSet":"","checksum":0}',
    /configured policy "static" differs from state checkpoint policy "none"/,
  ],
  ['of another machine', '{"policyName":"static","defaultCpuSet":"0-31"}', /available CPUs "0-15" doesn't match with CPUs in state "0-31"/],
  ['changed by hand', '{"policyName":"static","defaultCpuSet":"0-15","checksum":1}', /checkpoint is corrupted/],
  ['huge', ' '.repeat((16 << 20) + 1), /larger than 16777216 bytes/],
  ['endless numbers', '{"policyName":"static","defaultCpuSet":"0-4294967295"}', /could not parse default cpu set/],
] as const)
  test(`the agent does not start with a checkpoint that is damaged, and says what to do: ${what}`, async (t) => {
    const rootDir = await directory(t);
    await writeFile(join(rootDir, 'cpu_manager_state'), text);
    await assert.rejects(agent(t, {}, { rootDir }), (error) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, fault);
      assert.match(error.message, /cpu_manager_state.*Drain this node, remove that file, and start the agent again/);
      return true;
    });
    assert.equal(await readFile(join(rootDir, 'cpu_manager_state'), 'utf8'), text, 'it stays as it is');
  });

test('a thousand pods come and go in time', async (t) => {
  const large: MachineShape = { sockets: 2, nodes: 4, cores: 32, threads: 2 };
  const node = await agent(t, { topologyManagerPolicy: 'best-effort' }, { shape: large, over: { files: nodeUnderTest().node.files } });
  t.after(node.begin().stop);
  const started = performance.now();
  for (let index = 0; index < 1000; index++) {
    const one = pod(`p${index}`, '1', '2');
    assert.doesNotMatch(await node.admit(one), /Error/);
    if (index >= 100) await node.contribution.pod?.release?.(`uid-p${index - 100}` as PodUid, signal);
  }
  assert.ok(performance.now() - started < 60_000, `${performance.now() - started} ms`);
});

test('a pod whose admission was given up while the disk hung gets nothing more', async (t) => {
  const disk = { hangs: false, answers: Promise.withResolvers<void>() };
  const save = (): Promise<void> => (disk.hangs ? disk.answers.promise : Promise.resolve());
  const node = await agent(t, {}, { over: { files: { open: () => ({ load: () => undefined, save }) } } });
  t.after(node.begin().stop);
  const given = new AbortController();
  disk.hangs = true;
  const own = pod('own', '2', '4');
  const asked = node.contribution.pod?.admit?.(own, new NodeUse(), given.signal);
  const queued = node.contribution.pod?.admit?.(pod('queued', '2'), new NodeUse(), given.signal);
  await setImmediate();
  given.abort(new Error('too late'));
  const released = node.contribution.pod?.release?.(own.metadata.uid, signal);
  disk.answers.resolve();
  await assert.rejects(asked ?? Promise.resolve(), { message: 'too late' });
  await assert.rejects(queued ?? Promise.resolve(), { message: 'too late' });
  await released;
  assert.equal(node.cpusOf(own), 'c0 0-15, c1 0-15');
});

test('a disk that takes nothing keeps a running pod on the shared CPUs, and does not end the agent', async (t) => {
  const running = pod('running', '2');
  const lives = { isHeld: () => false, wasFound: () => true };
  const save = (): Promise<void> => Promise.reject(new Error('no space left on device'));
  const node = await agent(t, {}, { over: { lives, files: { open: () => ({ load: () => undefined, save }) } } });
  node.declare(running);
  const services = node.begin();
  while (node.log.count('a running pod stays without CPUs and memory of its own') === 0) await setImmediate();
  assert.equal(node.cpusOf(running), 'c0 0-15');
  await services.stop();
});

test('cpuManagerPolicyOptions: with full-pcpus-only a pod that would share a core with another is refused', async (t) => {
  const node = await agent(t, { cpuManagerPolicyOptions: { 'full-pcpus-only': 'true' } });
  t.after(node.begin().stop);
  assert.match(await node.admit(pod('odd', '3')), /^SMTAlignmentError: /);
  assert.equal(await node.admit(pod('even', '2')), 'c0 1,9');
});

test('topologyManagerPolicyOptions: more NUMA nodes than eight are for those who have asked for it', async (t) => {
  const shape: MachineShape = { sockets: 1, nodes: 9, cores: 1, threads: 2 };
  const options = { topologyManagerPolicy: 'best-effort' } as const;
  await assert.rejects(agent(t, options, { shape }), /at most 8 NUMA nodes, and this machine has 9/);
  const node = await agent(t, { ...options, topologyManagerPolicyOptions: { 'max-allowable-numa-nodes': '9' } }, { shape });
  t.after(node.begin().stop);
  assert.match(await node.admit(pod('own', '2')), /^c0 /);
});
