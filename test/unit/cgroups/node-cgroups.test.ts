import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CgroupManager } from '../../../src/cgroups/cgroup-manager.ts';
import { NodeCgroups } from '../../../src/cgroups/node-cgroups.ts';
import type { QosLimiting } from '../../../src/model/qos-resource-configs.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { CgroupsInMemory, failure } from '../../fakes/cgroups-in-memory.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';

const never = new AbortController().signal;
const MI = 2 ** 20;

function world(enforce: readonly string[], qos: QosLimiting = {}) {
  const fs = new CgroupsInMemory();
  const clock = new FakeClock();
  const events: string[] = [];
  const node = new NodeCgroups({
    manager: new CgroupManager({ fs, driver: 'cgroupfs', slices: undefined, hugePageSizes: new Map(), clock, tell: silentHappenings }),
    pods: ['kubepods'],
    options: { enforceNodeAllocatable: enforce, kubeReservedCgroup: '/kube', systemReservedCgroup: '/system' },
    capacity: { cpu: '4', memory: '8Gi', pid: '1000' },
    reserved: { kube: { cpu: '500m', memory: '1Gi' }, system: { cpu: '1', memory: '1Gi', pid: '100' } },
    qos,
    keepsReserved: false,
    clock,
    event: (type, reason, message) => events.push(`${type} ${reason} ${message}`),
  });
  return { fs, clock, events, node };
}

test('all pods together are held to what is not reserved, daemons to what is', async () => {
  const { fs, events, node } = world(['pods', 'kube-reserved-compressible', 'system-reserved']);
  fs.has('/kube');
  fs.has('/system');
  await node.make();
  await node.enforce(never);
  assert.deepEqual(fs.written, [
    '/kubepods/besteffort cpu.shares=2',
    '/system cpu.shares=1024',
    `/system memory.limit_in_bytes=${1024 * MI}`,
    '/system pids.max=100',
    '/kube cpu.shares=512',
    '/kubepods cpu.shares=2560',
    `/kubepods memory.limit_in_bytes=${6 * 1024 * MI}`,
    '/kubepods pids.max=900',
  ]);
  assert.deepEqual(events, [
    'Normal NodeAllocatableEnforced Updated limits on system reserved cgroup /system',
    'Normal NodeAllocatableEnforced Updated limits on kube reserved cgroup /kube',
    'Normal NodeAllocatableEnforced Updated Node Allocatable limit across pods',
  ]);
});

test('where nothing is enforced all pods have the whole machine', async () => {
  const { fs, node } = world(['none']);
  await node.make();
  await node.enforce(never);
  assert.deepEqual(fs.written.slice(1), [
    '/kubepods cpu.shares=4096',
    `/kubepods memory.limit_in_bytes=${8 * 1024 * MI}`,
    '/kubepods pids.max=1000',
  ]);
});

test('cgroups that are there and cannot be written are none', async () => {
  const { fs, node } = world(['pods']);
  fs.has('/kubepods/besteffort');
  fs.refuses = () => failure('EROFS');
  await assert.rejects(node.make(), /set cpu.shares of cgroup \/kubepods\/besteffort to 2: EROFS/);
});

test("a daemons' cgroup that is not there keeps the agent from starting", async () => {
  const { node, events } = world(['kube-reserved']);
  await node.make();
  const message = 'Failed to enforce Kube Reserved Cgroup Limits on "/kube": ["kube"] cgroup does not exist';
  await assert.rejects(node.enforce(never), { name: 'CgroupSetupError', message });
  assert.deepEqual(events, [`Warning FailedNodeAllocatableEnforcement ${message}`]);
});

test('pods that use more than they may by now are held as soon as they use less', async () => {
  const { fs, clock, events, node } = world(['pods']);
  await node.make();
  fs.refuses = (_, { file }) => (file === 'memory.limit_in_bytes' ? failure('EBUSY') : undefined);
  const enforced = node.enforce(never);
  await clock.advance(59_000);
  assert.equal(events.length, 1);
  assert.match(
    events[0] ?? '',
    /^Warning FailedNodeAllocatableEnforcement Failed to update Node Allocatable Limits \["kubepods"\]: set memory/,
  );
  fs.refuses = () => undefined;
  await clock.advance(1_000);
  await enforced;
  assert.equal(events.length, 2);
});

test('a class is set to what its pods ask for, and only when that has changed', async () => {
  const { fs, node } = world([]);
  await node.make();
  fs.written.length = 0;
  const burstable = (name: string, cpu: string) => aPod(name, { containers: [aContainer('app', { resources: { requests: { cpu } } })] });
  const [one, two] = [burstable('one', '100m'), burstable('two', '400m')];
  await node.update([one]);
  assert.deepEqual(fs.written, ['/kubepods/burstable cpu.shares=102', '/kubepods/besteffort cpu.shares=2']);
  await node.update([one]);
  assert.equal(fs.written.length, 2);
  await node.update([one, two]);
  assert.deepEqual(fs.written.slice(2), ['/kubepods/burstable cpu.shares=512']);
});

test('memory that is kept from a class, and used by it already, is no longer given to it at least', async () => {
  const { fs, node } = world([], { memoryReserve: 50, allocatableMemory: 1024 * MI });
  await node.make();
  fs.has('/kubepods/burstable', { 'memory.usage_in_bytes': `${900 * MI}` });
  fs.refuses = (path, { file, value }) =>
    path.endsWith('burstable') && file === 'memory.limit_in_bytes' && Number(value) < 900 * MI ? failure('EBUSY') : undefined;
  const more = { cpu: '1', memory: '640Mi' };
  await node.update([aPod('bigger', { containers: [aContainer('app', { resources: { limits: more, requests: more } })] })]);
  assert.equal(await fs.read('/kubepods/burstable', 'memory', 'memory.limit_in_bytes'), `${900 * MI}`);
});

test('a pod is reckoned once, and not again with each change of another', async () => {
  const { node } = world(['pods']);
  await node.make();
  let asked = 0;
  const web = aPod('web', { containers: [aContainer('app', { resources: { requests: { cpu: '1' } } })] });
  const counted = {
    ...web,
    get spec() {
      asked++;
      return web.spec;
    },
  };
  await node.update([counted]);
  const once = asked;
  assert.ok(once > 0);
  await node.update([counted, aPod('other')]);
  assert.equal(asked, once);
});
