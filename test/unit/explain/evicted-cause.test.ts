import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evictedCause } from '../../../src/explain/causes/evicted-cause.ts';

for (const [message, says] of [
  ['Usage of EmptyDir volume "cache" exceeds the limit "4Mi". ', 'it was evicted: its volume cache holds more than its sizeLimit of 4Mi'],
  [
    'Container app exceeded its local ephemeral storage limit "4Mi". ',
    'it was evicted: container app wrote more than its limit of 4Mi of local disk (ephemeral-storage)',
  ],
  [
    'Pod ephemeral local storage usage exceeds the total limit of containers 1.5Gi. ',
    'it was evicted: its containers together wrote more than their limit of 1.5Gi of local disk (ephemeral-storage)',
  ],
] as const)
  test(`a pod that was evicted for its own limit: ${message.trim()}`, () => {
    const { code, text, advice, detail } = evictedCause(message);
    assert.deepEqual([code, text, detail], ['over-its-disk-limit', says, message]);
    assert.match(advice ?? '', /^write less .* or raise /);
  });

test('a pod that was evicted for the node, and one that was not let in', () => {
  assert.match(evictedCause('The node was low on resource: memory. ').text, /^it was evicted: The node was low on resource: memory/);
  assert.match(
    evictedCause('Pod was rejected: The node had condition: [DiskPressure]. ').text,
    /^it may not run here: the node is short of room/,
  );
});
