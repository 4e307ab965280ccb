import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Threshold } from '../../../src/model/eviction/threshold.ts';
import { evictionReservation } from '../../../src/model/eviction-reservation.ts';
import { absoluteAllocatable, allocatableReservation, reservationFaults } from '../../../src/model/node-allocatable.ts';
import { Quantity } from '../../../src/model/quantity.ts';

const capacity = { cpu: '2', memory: '1Gi' };
const reserving = (memory: string) => ({ system: { memory }, kube: { cpu: '500m' }, eviction: {} });

test('as much as there is may be reserved, and not a byte more', () => {
  assert.deepEqual(reservationFaults(capacity, reserving('1Gi')), []);
  assert.deepEqual(reservationFaults(capacity, reserving('1073741825')), [{ name: 'memory', reserved: '1073741825', capacity: '1Gi' }]);
  assert.deepEqual(absoluteAllocatable(capacity, reserving('2Gi')), { cpu: '1500m', memory: '0' });
});

test('what must stay free is kept from pods, and does not limit them together: they are to be evicted first', () => {
  const at = { graceMs: 0, minReclaim: undefined };
  const hard: Threshold[] = [
    { signal: 'memory.available', value: { percentage: 0.25 }, ...at },
    { signal: 'nodefs.available', value: { quantity: Quantity.parse('1Gi') }, ...at },
    { signal: 'nodefs.available', value: { quantity: Quantity.parse('2Gi') }, ...at, graceMs: 1 },
    { signal: 'pid.available', value: { percentage: 0.5 }, ...at },
  ];
  const eviction = evictionReservation(hard, capacity);
  assert.deepEqual(eviction, { memory: '256Mi', 'ephemeral-storage': '1Gi' });
  const reserved = { system: {}, kube: {}, eviction };
  assert.deepEqual(allocatableReservation(capacity, reserved), { memory: '256Mi' });
  assert.deepEqual(absoluteAllocatable(capacity, reserved), capacity);
});
