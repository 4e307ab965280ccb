import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTwoWayMergePatch, type PatchedKind } from '../../../src/model/strategic-merge-patch.ts';
import { applyStrategicMergePatch } from '../../fakes/apply-patch.ts';

const condition = (type: string, status: string, more: object = {}): object => ({ type, status, ...more });
const ready = condition('Ready', 'True', { lastHeartbeatTime: 'a' });
const beaten = condition('Ready', 'True', { lastHeartbeatTime: 'b' });
const pressure = condition('MemoryPressure', 'False');
const order = (...types: readonly string[]): readonly object[] => types.map((type) => ({ type }));
const status = (fields: object): object => ({ status: fields });

const cases: readonly { name: string; kind?: PatchedKind; before: object; after: object; patch: object }[] = [
  { name: 'nothing differs', before: { metadata: { name: 'n' } }, after: { metadata: { name: 'n' } }, patch: {} },
  { name: 'undefined is absent', before: { a: undefined }, after: { b: undefined }, patch: {} },
  { name: 'a field comes', before: {}, after: { a: 1 }, patch: { a: 1 } },
  { name: 'a field goes', before: { a: 1, b: 2 }, after: { b: 2 }, patch: { a: null } },
  {
    name: 'a field of an inner object goes',
    before: status({ capacity: { cpu: '4', gpu: '1' } }),
    after: status({ capacity: { cpu: '2' } }),
    patch: status({ capacity: { cpu: '2', gpu: null } }),
  },
  {
    name: 'a heartbeat is all that differs',
    before: status({ conditions: [pressure, ready] }),
    after: status({ conditions: [pressure, beaten] }),
    patch: status({
      conditions: [{ lastHeartbeatTime: 'b', type: 'Ready' }],
      '$setElementOrder/conditions': order('MemoryPressure', 'Ready'),
    }),
  },
  {
    name: 'a condition comes before another',
    before: status({ conditions: [ready] }),
    after: status({ conditions: [pressure, ready] }),
    patch: status({ conditions: [pressure], '$setElementOrder/conditions': order('MemoryPressure', 'Ready') }),
  },
  {
    name: 'a condition goes',
    before: status({ conditions: [pressure, ready] }),
    after: status({ conditions: [ready] }),
    patch: status({ conditions: [{ $patch: 'delete', type: 'MemoryPressure' }], '$setElementOrder/conditions': order('Ready') }),
  },
  {
    name: 'only the order differs',
    before: status({ conditions: [pressure, ready] }),
    after: status({ conditions: [ready, pressure] }),
    patch: status({ '$setElementOrder/conditions': order('Ready', 'MemoryPressure') }),
  },
  { name: 'the first conditions', before: status({}), after: status({ conditions: [ready] }), patch: status({ conditions: [ready] }) },
  {
    name: 'the first conditions of an empty list',
    before: status({ conditions: [] }),
    after: status({ conditions: [ready] }),
    patch: status({ conditions: [ready] }),
  },
  {
    name: "a node's addresses are sent whole, as a type may stand twice",
    before: status({
      addresses: [
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'Hostname', address: 'h' },
      ],
    }),
    after: status({
      addresses: [
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'InternalIP', address: 'fd00::1' },
        { type: 'Hostname', address: 'h' },
      ],
    }),
    patch: status({
      addresses: [
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'InternalIP', address: 'fd00::1' },
        { type: 'Hostname', address: 'h' },
        { $patch: 'replace' },
      ],
    }),
  },
  {
    name: 'images are replaced whole',
    before: status({ images: [{ names: ['a'] }] }),
    after: status({ images: [{ names: ['b'] }] }),
    patch: status({ images: [{ names: ['b'] }] }),
  },
  {
    name: 'a finalizer goes and one comes',
    before: { metadata: { finalizers: ['a', 'b'] } },
    after: { metadata: { finalizers: ['b', 'c'] } },
    patch: { metadata: { finalizers: ['c'], '$deleteFromPrimitiveList/finalizers': ['a'], '$setElementOrder/finalizers': ['b', 'c'] } },
  },
  {
    name: 'the last finalizer goes',
    before: { metadata: { finalizers: ['a'] } },
    after: { metadata: { finalizers: [] } },
    patch: { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } },
  },
  { name: 'a list goes', before: status({ conditions: [ready] }), after: status({}), patch: status({ conditions: null }) },
  {
    name: 'pod IPs are told apart by their address',
    kind: 'Pod',
    before: status({ podIPs: [{ ip: '10.0.0.1' }] }),
    after: status({ podIPs: [{ ip: '10.0.0.2' }] }),
    patch: status({ podIPs: [{ ip: '10.0.0.2' }, { $patch: 'delete', ip: '10.0.0.1' }], '$setElementOrder/podIPs': [{ ip: '10.0.0.2' }] }),
  },
  {
    name: 'container statuses are replaced whole',
    kind: 'Pod',
    before: status({ containerStatuses: [{ name: 'a', ready: false }] }),
    after: status({ containerStatuses: [{ name: 'a', ready: true }] }),
    patch: status({ containerStatuses: [{ name: 'a', ready: true }] }),
  },
];

for (const { name, kind = 'Node', before, after, patch } of cases) {
  test(`patch: ${name}`, () => {
    const made = createTwoWayMergePatch(before, after, kind);
    assert.deepEqual(made, patch);
    const applied = applyStrategicMergePatch(Object.fromEntries(Object.entries(before)), made, kind);
    assert.deepEqual(JSON.parse(JSON.stringify(applied)), JSON.parse(JSON.stringify(after)));
  });
}

test('a patch leaves alone what another wrote meanwhile', () => {
  const before = status({ conditions: [ready], capacity: { cpu: '4' } });
  const patch = createTwoWayMergePatch(before, status({ conditions: [beaten], capacity: { cpu: '4' } }), 'Node');
  const foreign = condition('NetworkUnavailable', 'False');
  const meanwhile = { status: { conditions: [foreign, ready], capacity: { cpu: '4', gpu: '2' } } };
  assert.deepEqual(applyStrategicMergePatch(meanwhile, patch, 'Node'), {
    status: { conditions: [beaten, foreign], capacity: { cpu: '4', gpu: '2' } },
  });
});
