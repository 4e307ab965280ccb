import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mask, unmask } from '../../../../src/server/streaming/web-socket-mask.ts';

const KEY = Uint8Array.of(0x12, 0x80, 0xff, 0x01);
const text = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => (i * 7 + 3) & 0xff));
const byteByByte = (bytes: Uint8Array): Buffer => Buffer.from(bytes.map((byte, i) => byte ^ (KEY[i & 3] ?? 0)));

describe('the mask of a WebSocket frame', () => {
  it('is taken off wherever in memory the bytes begin and end', () => {
    for (let offset = 0; offset < 9; offset++) {
      for (let length = 0; length < 40; length++) {
        const memory = text(64);
        const expected = Buffer.concat([
          memory.subarray(0, offset),
          byteByByte(memory.subarray(offset, offset + length)),
          memory.subarray(offset + length),
        ]);
        unmask(memory.subarray(offset, offset + length), KEY);
        assert.deepEqual(memory, expected, `${length} bytes at ${offset}`);
      }
    }
  });

  it('is put on into another buffer, whose other bytes stay as they are', () => {
    const output = Buffer.alloc(32, 9);
    mask(text(20), KEY, output, 5, 18);
    assert.deepEqual(output, Buffer.concat([Buffer.alloc(5, 9), byteByByte(text(18)), Buffer.alloc(9, 9)]));
  });
});
