import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mergePatch } from '../../../../src/options/decoding/merge-patch.ts';

/** RFC 7386, appendix A, of those whose patch is a map. */
describe('a merge patch', () => {
  for (const [target, patch, merged] of [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{}, JSON.parse('{"__proto__": {"a": 1}}'), JSON.parse('{"__proto__": {"a": 1}}')],
  ] as const) {
    test(`${JSON.stringify(patch)} on ${JSON.stringify(target)}`, () => assert.deepEqual(mergePatch(target, patch), merged));
  }
});
