import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeviceInventory, FORGET_AFTER_MS, type PluginDevice } from '../../../src/deviceplugins/device-inventory.ts';

const GPU = 'example.com/gpu';
const device = (id: string, healthy = true, ...nodes: readonly number[]): PluginDevice => ({ id, healthy, nodes });

test('what a list changes is what is new, gone, or otherwise', () => {
  const inventory = new DeviceInventory();
  inventory.connected(GPU);
  assert.deepEqual([...inventory.list(GPU, [device('a'), device('b'), device('c')])], ['a', 'b', 'c']);
  assert.deepEqual([...inventory.list(GPU, [device('a'), device('b', false), device('d', true, 1)])].toSorted(), ['b', 'c', 'd']);
  assert.deepEqual([...inventory.list(GPU, [device('a'), device('b', false), device('d', true, 1)])], []);
  assert.deepEqual(inventory.counts(GPU), { all: 3, unhealthy: 1 });
  assert.deepEqual([...inventory.list(GPU, [device('a', false), device('a')])].toSorted(), ['b', 'd'], 'of one id the last counts');
});

test('devices of a plugin that is gone are not healthy, and forgotten five minutes later, unless it comes back', () => {
  const inventory = new DeviceInventory();
  inventory.connected(GPU);
  inventory.list(GPU, [device('a'), device('b', false)]);
  assert.equal(inventory.nextForgottenInMs(0), undefined);
  assert.deepEqual([...inventory.stopped(GPU, 1_000)], ['a']);
  assert.deepEqual([inventory.counts(GPU), inventory.healthOf(GPU, 'a')], [{ all: 2, unhealthy: 2 }, 'Unknown']);
  assert.equal(inventory.nextForgottenInMs(2_000), FORGET_AFTER_MS - 1_000);
  assert.deepEqual(inventory.forget(FORGET_AFTER_MS + 999), []);
  inventory.connected(GPU);
  assert.deepEqual(inventory.forget(2 * FORGET_AFTER_MS), []);
  inventory.stopped(GPU, 0);
  assert.deepEqual(
    [inventory.forget(FORGET_AFTER_MS), inventory.has(GPU), inventory.counts(GPU)],
    [[GPU], false, { all: 0, unhealthy: 0 }],
  );
});

test('what plugins had listed before a restart is known, with nothing, for five minutes', () => {
  const inventory = new DeviceInventory();
  inventory.restore([GPU], 7);
  assert.deepEqual([inventory.names, inventory.counts(GPU), inventory.healthOf(GPU, 'a')], [[GPU], { all: 0, unhealthy: 0 }, 'Unknown']);
  inventory.connected(GPU);
  inventory.list(GPU, [device('a')]);
  assert.deepEqual([inventory.healthOf(GPU, 'a'), inventory.healthOf(GPU, 'b')], ['Healthy', 'Unhealthy']);
  assert.equal(inventory.nextForgottenInMs(8), undefined);
});
