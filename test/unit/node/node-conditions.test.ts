import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setPressureCondition, setReadyCondition } from '../../../src/node/node-conditions.ts';

const atMs = Date.UTC(2021, 1, 3, 4, 5, 6);
const capacity = { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '20Gi' };
const ready = (status: string): { conditions: { type: string; status: string }[]; capacity: typeof capacity } => ({
  capacity,
  conditions: [{ type: 'Ready', status }],
});

for (const [before, errors, event] of [
  [undefined, [], undefined],
  [undefined, ['r'], undefined],
  ['True', [], undefined],
  ['False', [], 'NodeReady'],
  ['Unknown', [], 'NodeReady'],
  ['True', ['n'], 'NodeNotReady'],
  ['False', ['n'], undefined],
] as const)
  test(`Ready ${before ?? 'for the first time'}, then ${JSON.stringify(errors)}: the event is ${event ?? 'none'}`, () => {
    assert.equal(setReadyCondition(before ? ready(before) : { capacity }, { errors }, atMs).reason, event);
  });

test('errors of several parts are told together, each once', () => {
  const { conditions } = setReadyCondition(ready('True'), { errors: ['a', 'b', 'a'] }, atMs);
  assert.equal(conditions[0]?.message, '[a, b]');
});

for (const [pressure, under, event] of [
  ['memory', true, 'NodeHasInsufficientMemory'],
  ['memory', false, 'NodeHasSufficientMemory'],
  ['disk', true, 'NodeHasDiskPressure'],
  ['disk', false, 'NodeHasNoDiskPressure'],
  ['pid', true, 'NodeHasInsufficientPID'],
  ['pid', false, 'NodeHasSufficientPID'],
] as const)
  test(`${pressure} pressure ${under}: told when it changes, and only then`, () => {
    const first = setPressureCondition([], pressure, under, atMs);
    assert.equal(first.reason, event);
    const again = setPressureCondition(first.conditions, pressure, under, atMs + 10_000);
    assert.equal(again.reason, undefined);
    assert.deepEqual(again.conditions, [{ ...first.conditions[0], lastHeartbeatTime: '2021-02-03T04:05:16Z' }]);
  });
