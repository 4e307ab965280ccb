import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromUtf8 } from '../../../src/model/go-text.ts';

test('every byte that is no UTF-8 is replaced on its own', () => {
  const table = [
    [Buffer.from('a\u00e9\ufeff\uffff\u{10ffff}'), 'a\u00e9\ufeff\uffff\u{10ffff}'],
    [Buffer.from([0xff, 0xfe, 0x41, 0xc3]), '\ufffd\ufffdA\ufffd'],
    [Buffer.from([0xe2, 0x82, 0x41, 0xf0, 0x9f, 0x98]), '\ufffd\ufffdA\ufffd\ufffd\ufffd'],
    [Buffer.from([0xed, 0xa0, 0x80, 0xc0, 0x80]), '\ufffd'.repeat(5)],
    [Buffer.from([0xf4, 0x90, 0x80, 0x80]), '\ufffd'.repeat(4)],
  ] as const;
  for (const [bytes, expected] of table) assert.equal(fromUtf8(bytes), expected, bytes.toString('hex'));
});
