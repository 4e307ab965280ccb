import { LiveValue } from '../../../src/base/live.ts';
import type { LiveOptions } from '../../../src/options/kubelet-options.ts';
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Node } from '../../../src/model/node.ts';
import { openNode } from '../../../src/node/open-node.ts';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import type { ThisNode } from '../../../src/ports/this-node.ts';
import { aMachine } from '../../builders/a-machine.ts';
import { someOptions } from '../../builders/some-options.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const twoCores = {
  'sys/devices/system/cpu/online': '0-1\n',
  'proc/meminfo': 'MemTotal: 2048 kB\n',
};

async function aNode(
  t: TestContext,
  { options = {}, files = twoCores, shown = () => undefined, version = 2 }: Partial<Asked> = {},
): Promise<{ readonly node: ThisNode; readonly log: RecordingLogger }> {
  const machine = await aMachine(files);
  t.after(() => machine.remove());
  const log = new RecordingLogger();
  const given = someOptions({ nodeName: 'n1', nodeIp: '10.1.2.3', rootDir: machine.root, maxPods: 30, ...options });
  const deps = { live: new LiveValue<LiveOptions>(given), clock: new FakeClock(), log, cluster: { node: shown }, cgroups: { version } };
  return { node: await openNode(given, deps, machine), log };
}

interface Asked {
  readonly options: Partial<KubeletOptions>;
  readonly files: Readonly<Record<string, string>>;
  readonly shown: () => Node | undefined;
  readonly version: 1 | 2;
}

test('a node that no API server knows is the machine that it is', async (t) => {
  const { node, log } = await aNode(t, { options: { nodeLabels: { a: 'b' } } });
  assert.deepEqual(node.ips, ['10.1.2.3']);
  assert.deepEqual(node.addresses(), [{ type: 'InternalIP', address: '10.1.2.3' }]);
  const { cpu, memory, pods } = node.resources.allocatable();
  assert.deepEqual({ cpu, memory, pods }, { cpu: '2', memory: '2Mi', pods: '30' });
  assert.equal(node.initial.status, undefined);
  const { metadata, status } = node.known();
  assert.deepEqual([metadata?.name, metadata?.labels?.['a'], status?.allocatable?.['cpu']], ['n1', 'b', '2']);
  assert.deepEqual(log.lines, []);
});

test('a machine with swap, or with cgroup v1, is refused where that is asked for, and only there', async (t) => {
  const files = { ...twoCores, 'proc/meminfo': 'MemTotal: 2048 kB\nSwapTotal: 1 kB\n' };
  await aNode(t, { files, version: 1 });
  await aNode(t, { options: { failSwapOn: true, failCgroupV1: true } });
  await aNode(t, { files, version: 1, options: { failSwapOn: false, failCgroupV1: false } });
  await assert.rejects(aNode(t, { files, options: { failSwapOn: true } }), /running with swap on is not supported.*1024 bytes/);
  await assert.rejects(aNode(t, { version: 1, options: { failCgroupV1: true } }), /configured to not run on a host using cgroup v1/);
});

test('what the API server shows goes before the machine', async (t) => {
  const shown: { now?: Node } = {};
  const { node } = await aNode(t, { shown: () => shown.now });
  shown.now = { metadata: { name: 'n1' }, status: { allocatable: { cpu: '1' }, addresses: [{ type: 'InternalIP', address: '10.9.9.9' }] } };
  assert.deepEqual(node.resources.allocatable(), { cpu: '1' });
  assert.equal(node.resources.capacity()['cpu'], '2');
  assert.deepEqual(node.addresses(), shown.now.status?.addresses);
  assert.equal(node.known(), shown.now);
});

test('reservations are kept from pods, and what others provide counts', async (t) => {
  const { node } = await aNode(t);
  const { resources } = node;
  let devices: Record<string, string> = { 'example.com/gpu': '2' };
  resources.reserve('system', { cpu: '1', memory: '1Mi' });
  resources.reserve('system', { cpu: '100m' });
  resources.reserve('kube', { cpu: '400m' });
  resources.provide(() => devices);
  assert.deepEqual(resources.reserved(), { cpu: '500m' });
  assert.deepEqual(
    [resources.capacity()['cpu'], resources.allocatable()['cpu'], resources.allocatable()['example.com/gpu']],
    ['2', '1500m', '2'],
  );
  assert.equal(node.known().status?.allocatable?.['cpu'], '1500m');
  resources.provide(
    () => ({}),
    () => ({ 'example.com/gpu': '1' }),
  );
  assert.deepEqual([resources.capacity()['example.com/gpu'], resources.allocatable()['example.com/gpu']], ['2', '1']);
  devices = { 'example.com/gpu': '1' };
  assert.deepEqual([resources.capacity()['example.com/gpu'], resources.allocatable()['example.com/gpu']], ['1', '0']);
  devices = {};
  assert.deepEqual(resources.provided().capacity, { 'example.com/gpu': '0' });
  assert.equal(resources.allocatable()['example.com/gpu'], '0');
});

test('a machine that cannot be read is logged, and has no resources to judge by', async (t) => {
  const { node, log } = await aNode(t, { files: {} });
  assert.equal(node.known().status, undefined);
  assert.deepEqual(node.resources.allocatable(), {});
  assert.match(log.lines.map(({ message }) => message).join(), /machine facts not read/);
});

test('an address that is none is an error', async (t) => {
  await assert.rejects(aNode(t, { options: { nodeIp: '10.1.2' } }), /--node-ip/);
});
