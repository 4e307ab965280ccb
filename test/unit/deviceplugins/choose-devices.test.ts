import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byNode, chooseDevices, type DeviceChoice } from '../../../src/deviceplugins/choose-devices.ts';
import { deviceHints } from '../../../src/deviceplugins/device-hints.ts';
import type { PluginDevice } from '../../../src/deviceplugins/device-inventory.ts';
import { podDeviceRequests } from '../../../src/deviceplugins/device-requests.ts';
import { nodesOf, numaMask } from '../../../src/model/numa-mask.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

/** "a0 b01 c": a on NUMA node 0, b on 0 and 1, c on none. */
const devices = (text: string): readonly PluginDevice[] =>
  text.split(' ').map((each) => ({ id: each.slice(0, 1), healthy: true, nodes: each.slice(1).split('').map(Number) }));

async function chosen(required: number, available: string, over: Partial<DeviceChoice> = {}): Promise<string> {
  const prefer = async (): Promise<undefined> => undefined;
  const choice = {
    resource: 'a.b/c',
    required,
    reusable: new Set<string>(),
    available: devices(available),
    near: undefined,
    prefer,
    ...over,
  };
  return [...(await chooseDevices(choice))].join('');
}

test('devices are taken in their order, those of init containers first', async () => {
  assert.equal(await chosen(2, 'a b c'), 'ab');
  assert.equal(await chosen(2, 'a b c', { reusable: new Set(['x']) }), 'xa');
  assert.equal(await chosen(1, 'a', { reusable: new Set(['x', 'y']) }), 'x');
});

test('devices of the hinted NUMA nodes come first, then those of others, then those of none', async () => {
  const near = numaMask([1]);
  assert.equal(await chosen(1, 'a0 b c1 d01', { near }), 'c');
  assert.equal(await chosen(2, 'a0 b c1 d01', { near }), 'cd');
  assert.equal(await chosen(3, 'a0 b c1 d01', { near }), 'cda');
  assert.equal(await chosen(4, 'a0 b c1 d01', { near }), 'cdab');
});

test('of near devices the plugin may prefer some where there is a choice; of others, too, once all near ones are taken', async () => {
  const asked: string[] = [];
  const prefer: DeviceChoice['prefer'] = async (available, included, size) => {
    asked.push(`${available.join('')} ${included.join('')} ${size}`);
    return ['e', 'd', 'x'];
  };
  const near = numaMask([1]);
  assert.equal(await chosen(1, 'a0 c1 d1 e', { near, prefer }), 'd');
  assert.equal(await chosen(3, 'a0 c1 d1 e', { near, prefer }), 'cde');
  assert.equal(await chosen(2, 'a0 c1 d1 e', { near, prefer }), 'cd', 'there is none to choose');
  assert.deepEqual(asked, ['cd  1', 'cdae cd 3']);
});

test('a plugin may prefer a hundred thousand devices of as many', async () => {
  const available = Array.from({ length: 100_000 }, (_, n) => ({ id: `${n}`, healthy: true, nodes: [] }));
  const prefer: DeviceChoice['prefer'] = async (ids) => ids.toReversed();
  const found = await chooseDevices({ resource: 'a.b/c', required: 99_999, reusable: new Set(), available, near: undefined, prefer });
  assert.equal([...found][0], '99999');
  assert.equal(byNode(available).get(-1)?.length, 100_000);
});

test('too few are refused with how many are missing', async () => {
  await assert.rejects(chosen(4, 'a b', { reusable: new Set(['x']) }), {
    message: 'requested number of devices unavailable for a.b/c. Requested: 3, Available: 2',
  });
});

test('hints are the choices of nodes with enough devices, the fewest nodes that would do preferred', () => {
  const all = devices('a0 b0 c1 d');
  const hints = (available: string, count: number, reusable: readonly PluginDevice[] = []): readonly string[] =>
    deviceHints([0, 1], { all, available: devices(available), reusable, count }).map(
      ({ nodes, preferred }) => `${nodes === undefined ? '' : nodesOf(nodes).join('')}${preferred ? '!' : ''}`,
    );
  assert.deepEqual(hints('a0 b0 c1 d', 1), ['0!', '1!', '01']);
  assert.deepEqual(hints('a0 b0 c1 d', 2), ['0!', '01']);
  assert.deepEqual(hints('a0 c1 d', 2), ['01'], 'one node would do if all of its devices were free');
  assert.deepEqual(hints('c1', 2, devices('a0')), ['01'], 'a choice holds what is reused');
  assert.deepEqual(hints('a0 d', 2), []);
});

test('a pod needs at most what its containers have at one time', () => {
  const of = (name: string, count: number) => aContainer(name, { resources: { limits: { 'a.b/c': String(count) } } });
  const pod = aPod('p', {
    initContainers: [of('i', 1), { ...of('s', 2), restartPolicy: 'Always' }, of('j', 3)],
    containers: [of('x', 1), of('y', 1)],
  });
  const asked = (name: string): boolean => name === 'a.b/c';
  assert.deepEqual([...podDeviceRequests(pod, asked)], [['a.b/c', 5]]);
  assert.deepEqual([...podDeviceRequests(pod, () => false)], []);
});
