import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  memoryReserve,
  reservationProblems,
  type ReservationSettings,
  reservedResources,
} from '../../../src/options/reserved-resources.ts';

const nothing: ReservationSettings = { kubeReserved: {}, systemReserved: {}, reservedSystemCpus: '', qosReserved: {} };

test('CPUs that are reserved by number take the place of all that is said of CPU', () => {
  const settings = { kubeReserved: { cpu: '100m', memory: '1Gi' }, systemReserved: { cpu: '2' }, reservedSystemCpus: '0-2,2,5' };
  assert.deepEqual(reservedResources(settings), { kube: { memory: '1Gi' }, system: { cpu: '4' } });
  assert.deepEqual(reservedResources({ ...settings, reservedSystemCpus: '' }).kube, { cpu: '100m', memory: '1Gi' });
});

test('what cannot be reserved is named with its setting', () => {
  const of = (more: Partial<ReservationSettings>) => reservationProblems({ ...nothing, ...more });
  assert.deepEqual(of({ kubeReserved: { cpu: '1', memory: '0', 'ephemeral-storage': '1Gi', pid: '100' } }), []);
  assert.deepEqual(of({ kubeReserved: { gpu: '1' }, systemReserved: { memory: '-1' } }), [
    'invalid configuration: kubeReserved (--kube-reserved): cannot reserve "gpu" resource',
    'invalid configuration: systemReserved (--system-reserved): resource quantity for "memory" cannot be negative: -1',
  ]);
  assert.match(of({ systemReserved: { cpu: 'x' } })[0] ?? '', /failed to parse quantity "x" for "cpu" resource: quantities must/);
});

test('no more CPUs are counted than a machine can have', () => {
  const of = (reservedSystemCpus: string) => reservationProblems({ ...nothing, reservedSystemCpus });
  assert.deepEqual(of('0-65535'), []);
  assert.deepEqual(of('0-99999999999'), [
    'invalid configuration: reservedSystemCPUs (--reserved-cpus): CPU 99999999999 is beyond 65535, the last that is looked at',
  ]);
  assert.deepEqual(of('0-x'), [], 'the kubelet’s rules say that');
});

test('memory is reserved for QoS classes in percent, from 0 to 100', () => {
  const faultOf = (memory: string) => reservationProblems({ ...nothing, qosReserved: { memory } }).join();
  assert.equal(faultOf('0%') + faultOf('100%'), '');
  assert.match(faultOf('101%'), /percentage must be between 0 and 100/);
  assert.match(faultOf('50'), /percentage expected, got '50'/);
  assert.match(faultOf('half%'), /invalid number in percentage 'half%'/);
  assert.equal(memoryReserve({ qosReserved: { memory: '50%' } }), 50);
  assert.equal(memoryReserve({ qosReserved: {} }), undefined);
});
