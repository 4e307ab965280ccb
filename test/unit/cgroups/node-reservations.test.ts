import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeReservations } from '../../../src/cgroups/node-reservations.ts';
import type { ResourceList } from '../../../src/model/node.ts';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import { someOptions } from '../../builders/some-options.ts';

function reservedFor(options: Partial<KubeletOptions>): ReadonlyMap<string, ResourceList> {
  const kept = new Map<string, ResourceList>();
  const resources = {
    capacity: () => ({ cpu: '4', memory: '8Gi' }),
    allocatable: () => ({}),
    reserve: (name: string, amounts: ResourceList) => void kept.set(name, amounts),
    reserved: () => ({}),
    provide: () => {},
    provided: () => ({ capacity: {}, allocatable: {} }),
  };
  const node = { name: 'n1', ips: [], initial: { metadata: { name: 'n1' } }, known: () => ({}), addresses: () => [], resources };
  nodeReservations({ options: someOptions(options), node });
  return kept;
}

test('what hard evictions keep free is kept from pods, unless allocatable is to ignore it', () => {
  const options = { kubeReserved: { memory: '1Gi' }, evictionHard: { 'memory.available': '500Mi' } };
  assert.deepEqual(reservedFor(options).get('eviction'), { memory: '500Mi' });
  const ignoring = reservedFor({ ...options, allocatableIgnoresEviction: true });
  assert.deepEqual(ignoring.get('eviction'), {});
  assert.deepEqual(ignoring.get('kube'), { memory: '1Gi' });
});
