import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Container, Pod, PodUid } from '../../../../src/model/pod.ts';
import type { KubeletOptions } from '../../../../src/options/kubelet-options.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { type AligningAgent, aligningAgent, type AligningWorld, aRootDir } from '../../../builders/aligning-agent.ts';
import type { MachineShape } from '../../../builders/machine.ts';

const { signal } = new AbortController();
const MIB = 2 ** 20;
/** Nodes of 1 GiB each, with 64 huge pages of 2 MiB: 0-3,8-11 and 4-7,12-15. 100 MiB of the first are reserved. */
const server: MachineShape = { sockets: 2, cores: 4, threads: 2, hugePages: [{ pageSizeKiB: 2048, pages: 64 }] };
const reservedMemory = [{ numaNode: 0, limits: { memory: '100Mi' } }];
const withMemory: Partial<KubeletOptions> = { memoryManagerPolicy: 'Static', reservedMemory };
const withBoth: Partial<KubeletOptions> = { ...withMemory, cpuManagerPolicy: 'static', reservedSystemCpus: '0' };

const agent = (t: TestContext, options: Partial<KubeletOptions> = withMemory, world: Partial<AligningWorld> = {}): Promise<AligningAgent> =>
  aligningAgent(t, options, { shape: server, reserved: { memory: '100Mi' }, ...world });

const asking = (name: string, memory: string, cpu = '100m', more: object = {}) =>
  aContainer(name, { resources: { requests: { cpu, memory, ...more }, limits: { cpu, memory, ...more } } });
const pod = (name: string, ...containers: readonly Container[]): Pod => aPod(name, { containers });

/** What each container is made with: "app mems 0, other cpus 0-15". */
async function madeWith({ contribution }: AligningAgent, each: Pod): Promise<string> {
  const making = { env: new Map(), podIps: async () => [] };
  const parts: string[] = [];
  for (const container of each.spec.containers) {
    const { cpuset, cpusetMems } = (await contribution.pod?.container?.(each, container, making, signal)) ?? {};
    const [cpus, mems] = [cpuset && ` cpus ${cpuset}`, cpusetMems && ` mems ${cpusetMems}`];
    parts.push(`${container.name}${cpus ?? ''}${mems ?? ''}`);
  }
  return parts.join(', ');
}
const stateOf = async ({ rootDir }: AligningAgent) => JSON.parse(await readFile(join(rootDir, 'memory_manager_state'), 'utf8'));

test('containers of a Guaranteed pod have memory of chosen NUMA nodes, all others of any', async (t) => {
  const node = await agent(t);
  t.after(node.begin().stop);
  assert.deepEqual(Object.keys(await stateOf(node)), ['policyName', 'machineState', 'checksum'], 'also before there is any pod');
  const own = pod('own', asking('app', '700Mi'), asking('log', '100Mi', '100m', { 'hugepages-2Mi': '100Mi' }));
  const large = pod('large', asking('app', '900Mi'));
  const other = aPod('other');
  for (const each of [own, other]) assert.doesNotMatch(await node.admit(each), /Error/);
  assert.equal(await madeWith(node, own), 'app mems 0, log mems 1');
  assert.equal(await madeWith(node, other), 'app');
  assert.equal(node.contribution.pod?.cpuset?.(own.metadata.uid, 'app'), undefined, 'it runs on any CPU');
  assert.equal(
    await node.admit(large),
    'UnexpectedAdmissionError: Allocate failed due to [memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available, which is unexpected',
  );
  const { policyName, entries, machineState } = await stateOf(node);
  assert.deepEqual([policyName, machineState['0'].memoryMap.memory.reserved], ['Static', 700 * MIB]);
  assert.deepEqual(entries, {
    'uid-own': {
      app: [{ numaAffinity: [0], type: 'memory', size: 700 * MIB }],
      log: [
        { numaAffinity: [1], type: 'memory', size: 100 * MIB },
        { numaAffinity: [1], type: 'hugepages-2Mi', size: 100 * MIB },
      ],
    },
  });
  await node.contribution.pod?.tearDown?.(own.metadata.uid, signal);
  assert.equal(await node.admit(large), 'app undefined');
  assert.equal(await madeWith(node, large), 'app mems 0,1');
  const asked = node.happened.flatMap(({ name, what }) => (name === 'memoryAsked' ? [what.failed] : []));
  assert.deepEqual(asked, [false, false, true, false]);
});

test('memory and CPUs come from the same nodes where the topology policy asks for it', async (t) => {
  const node = await agent(t, { ...withBoth, topologyManagerPolicy: 'single-numa-node' });
  t.after(node.begin().stop);
  const wide = pod('wide', asking('app', '1Gi', '2'));
  assert.equal(await node.admit(wide), 'TopologyAffinityError: Resources cannot be allocated with Topology locality');
  const [first, second] = [pod('first', asking('app', '600Mi', '2')), pod('second', asking('app', '600Mi', '2'))];
  assert.equal(await node.admit(first), 'app 1,9');
  assert.equal(await node.admit(second), 'app 4,12');
  assert.equal(await madeWith(node, first), 'app cpus 1,9 mems 0');
  assert.equal(await madeWith(node, second), 'app cpus 4,12 mems 1');
  assert.equal(
    await node.admit(wide),
    'UnexpectedAdmissionError: Allocate failed due to [memorymanager] failed to find NUMA nodes to extend the current topology hint, which is unexpected',
    'there is no room on any nodes, so that the CPUs alone decide',
  );
  assert.equal(await node.admit(pod('cpus', asking('app', '10Mi', '5'))), 'app 2-3,8,10-11');
});

test('memory and huge pages come from the same node, of which both have enough', async (t) => {
  const node = await agent(t, { ...withMemory, topologyManagerPolicy: 'restricted', topologyManagerScope: 'pod' });
  t.after(node.begin().stop);
  const pages = { 'hugepages-2Mi': '80Mi' };
  const pods = ['a', 'b', 'c'].map((name) => pod(name, asking('app', '100Mi', '100m', pages)));
  const made: string[] = [];
  for (const each of pods) made.push((await node.admit(each)) === 'app undefined' ? await madeWith(node, each) : 'refused');
  assert.deepEqual(made, ['app mems 0', 'app mems 1', 'refused']);
});

test('another that gives something of NUMA nodes is asked first', async (t) => {
  const asked: string[] = [];
  const device = {
    hints: () => new Map(),
    podHints: () => new Map(),
    allocate: async () =>
      void asked.push(`device, memory of ${[...node.happened].filter(({ name }) => name === 'memoryAsked').length} before`),
  };
  const node: AligningAgent = await agent(t, withMemory, { hints: [device] });
  t.after(node.begin().stop);
  await node.admit(pod('own', asking('app', '1Mi'), asking('log', '1Mi')));
  assert.deepEqual(asked, ['device, memory of 0 before', 'device, memory of 1 before']);
});

test('an agent that begins again goes on with what it gave, and releases what is gone', async (t) => {
  const before = await agent(t);
  t.after(before.begin().stop);
  const [stays, gone] = [pod('stays', asking('app', '600Mi')), pod('gone', asking('app', '600Mi'))];
  await before.admit(gone);
  await before.admit(stays);
  const lives = { isHeld: () => false, wasFound: (uid: PodUid) => uid === stays.metadata.uid };
  const after = await agent(t, withMemory, { rootDir: before.rootDir, over: { lives } });
  assert.equal(await madeWith(after, stays), 'app mems 1');
  t.after(after.begin().stop);
  after.declare(stays);
  while ('uid-gone' in ((await stateOf(after)).entries ?? {})) await setImmediate();
  assert.equal(await after.admit(stays), 'app undefined');
  assert.equal(await madeWith(after, stays), 'app mems 1', 'also where it is admitted again');
  assert.equal(await after.admit(gone), 'app undefined');
  assert.equal(await madeWith(after, gone), 'app mems 0');
});

test('what runs and has no memory of its own yet gets it when the agent begins', async (t) => {
  const lives = { isHeld: () => false, wasFound: () => true };
  const node = await agent(t, withMemory, { over: { lives } });
  const [runs, tooLarge] = [pod('runs', asking('app', '10Mi')), pod('too-large', asking('app', '2Gi'))];
  node.declare(runs, tooLarge);
  const stays = node.log.next('a running pod stays without CPUs and memory of its own');
  t.after(node.begin().stop);
  await stays;
  assert.equal(await madeWith(node, runs), 'app mems 0');
  assert.equal(await madeWith(node, tooLarge), 'app');
});

test('what cannot be written down is not given', async (t) => {
  const save = (): Promise<void> => Promise.reject(new Error('no space left on device'));
  const node = await agent(t, withMemory, { over: { files: { open: () => ({ load: () => undefined, save }) } } });
  t.after(node.begin().stop);
  const own = pod('own', asking('app', '10Mi'));
  await assert.rejects(node.admit(own), /no space left on device/);
  await node.contribution.pod?.release?.(own.metadata.uid, signal);
  assert.equal(await madeWith(node, own), 'app');
  assert.ok(node.log.count('memory is free again, which could not be written down') > 0);
});

const half = '{"policyName":"Static","machineState":{"0":';
for (const [what, file, text, fault] of [
  ['half of it', 'memory_manager_state', half, /JSON/],
  [
    'of another policy',
    'memory_manager_state',
    '{"policyName":"None","machineState":{}}',
    /configured policy "Static" differs from state checkpoint policy "None"/,
  ],
  [
    'of another machine',
    'memory_manager_state',
    '{"policyName":"Static","machineState":{"0":{"memoryMap":{"memory":{"total":1}},"cells":[0]}}}',
    /the expected machine state is different from the real one: NUMA nodes 0, and this machine has 0,1/,
  ],
  ['changed by hand', 'memory_manager_state', '{"policyName":"Static","machineState":{},"checksum":1}', /checkpoint is corrupted/],
  ['huge', 'memory_manager_state', ' '.repeat((16 << 20) + 1), /larger than 16777216 bytes/],
  [
    'of CPUs under a policy that is off',
    'cpu_manager_state',
    '{"policyName":"static","defaultCpuSet":"0-3"}',
    /configured policy "none" differs from state checkpoint policy "static"/,
  ],
] as const)
  test(`the agent does not start with a checkpoint that does not fit, and says what to do: ${what}`, async (t) => {
    const rootDir = await aRootDir(t);
    await writeFile(join(rootDir, file), text);
    await assert.rejects(agent(t, withMemory, { rootDir }), (error) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, fault);
      assert.match(error.message, new RegExp(`${file}.*Drain this node, remove that file, and start the agent again`));
      return true;
    });
    assert.equal(await readFile(join(rootDir, file), 'utf8'), text, 'it stays as it is');
  });

test('without any policy nothing is given, and what was given under one stops the start', async (t) => {
  const before = await agent(t);
  await assert.rejects(agent(t, {}, { rootDir: before.rootDir }), /configured policy "None" differs from state checkpoint policy "Static"/);
  const rootDir = await aRootDir(t);
  await writeFile(join(rootDir, 'memory_manager_state'), '{"policyName":"None","machineState":{},"checksum":1}');
  await writeFile(join(rootDir, 'cpu_manager_state'), '{"policyName":"none","defaultCpuSet":"","checksum":1}');
  assert.deepEqual((await agent(t, {}, { rootDir })).contribution, {}, 'as a kubelet without policies leaves them');
});

test('reservations that do not add up stop the start', async (t) => {
  await assert.rejects(
    agent(t, { memoryManagerPolicy: 'Static' }),
    /reservedMemory \(--reserved-memory\): the total amount "0" of type "memory"/,
  );
});
