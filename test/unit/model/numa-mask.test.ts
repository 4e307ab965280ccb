import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allChoices, combinations, countNodes, isNarrower, nodesOf, numaMask } from '../../../src/model/numa-mask.ts';

test('a mask holds nodes 0 to 63', () => {
  assert.deepEqual(nodesOf(numaMask([63, 0, 5])), [0, 5, 63]);
  assert.equal(countNodes(numaMask([63, 0, 5])), 3);
  for (const node of [-1, 64, 1.5]) assert.throws(() => numaMask([node]), RangeError);
});

test('fewer nodes are narrower, of as many the lower ones', () => {
  const [zero, one, both] = [numaMask([0]), numaMask([1]), numaMask([0, 1])];
  assert.ok(isNarrower(one, both) && isNarrower(zero, one));
  assert.ok(!isNarrower(both, one) && !isNarrower(one, zero) && !isNarrower(one, one));
});

test('all choices of nodes come once each, the small ones first', () => {
  assert.deepEqual([...allChoices([0, 2, 5])], [[0], [2], [5], [0, 2], [0, 5], [2, 5], [0, 2, 5]]);
  assert.equal([...allChoices([])].length, 0);
  assert.deepEqual([...combinations('abc'.split(''), 2)].join(' '), 'a,b a,c b,c');
  assert.deepEqual([...combinations([1], 2)], []);
});
