import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryVolumeBytes } from '../../../src/model/memory-volume-size.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const limitedTo = (memory: string) =>
  aPod('web', { containers: [aContainer('app', { resources: { limits: { memory }, requests: { memory } } })] });

test('a volume in memory is no larger than its limit, its pod and all pods of the node', () => {
  for (const [pod, sizeLimit, allocatable, bytes] of [
    [aPod('web'), undefined, undefined, undefined],
    [aPod('web'), undefined, '8Ki', 8_192n],
    [aPod('web'), '4Ki', '8Ki', 4_096n],
    [aPod('web'), '16Ki', '8Ki', 8_192n],
    [aPod('web'), '0', '8Ki', 8_192n],
    [limitedTo('2Ki'), undefined, '8Ki', 2_048n],
    [limitedTo('2Ki'), '4Ki', '8Ki', 2_048n],
    [limitedTo('2Ki'), '1Ki', undefined, 1_024n],
    [limitedTo('16Ki'), undefined, '8Ki', 8_192n],
  ] as const)
    assert.equal(memoryVolumeBytes(pod, sizeLimit, allocatable), bytes);
});

test('a pod with a container without limit may use all that pods may', () => {
  const pod = aPod('web', { containers: [aContainer('app', { resources: { limits: { memory: '2Ki' } } }), aContainer('free')] });
  assert.equal(memoryVolumeBytes(pod, undefined, '8Ki'), 8_192n);
});
