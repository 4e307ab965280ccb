import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  controlFrame,
  dataFrameHead,
  FrameType,
  goAwayFrame,
  pingFrame,
  resetFrame,
  type SpdyFrame,
} from '../../../../src/base/spdy/spdy-frame.ts';
import { MAX_CONTROL_FRAME_BYTES, SpdyFrameReader, SpdyProtocolError } from '../../../../src/base/spdy/spdy-frame-reader.ts';

const dataFrame = (streamId: number, text: string, fin = false): Buffer =>
  Buffer.concat([dataFrameHead(streamId, Buffer.byteLength(text), fin), Buffer.from(text)]);

/** Pieces of one data frame, put together again. */
function read(reader: SpdyFrameReader, ...chunks: readonly Buffer[]): string[] {
  const seen: string[] = [];
  let text = '';
  for (const chunk of chunks) {
    reader.push(chunk);
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
      if (frame.kind === 'control') seen.push(`control ${frame.type} ${frame.flags} ${frame.body.toString('hex')}`);
      else {
        text += frame.bytes.toString();
        if (frame.fin) {
          seen.push(`stream ${frame.streamId}: ${text}, end`);
          text = '';
        }
      }
    }
  }
  return seen;
}

const frames: readonly [name: string, bytes: Buffer, seen: string[]][] = [
  ['data with an end', dataFrame(1, 'hello', true), ['stream 1: hello, end']],
  ['an end alone', dataFrame(5, '', true), ['stream 5: , end']],
  ['data in two frames', Buffer.concat([dataFrame(1, 'hel'), dataFrame(1, 'lo', true)]), ['stream 1: hello, end']],
  ['the largest stream number', dataFrame(0x7fffffff, 'x', true), ['stream 2147483647: x, end']],
  ['ping', pingFrame(1), ['control 6 0 00000001']],
  ['reset', resetFrame(3, 5), ['control 3 0 0000000300000005']],
  ['goodbye', goAwayFrame(7, 0), ['control 7 0 0000000700000000']],
  ['an unknown type', Buffer.from('80030063ff000001aa', 'hex'), ['control 99 255 aa']],
  ['a frame without a body', controlFrame(FrameType.SETTINGS, 0), ['control 4 0 ']],
];
for (const [name, bytes, seen] of frames) {
  test(`${name}, cut anywhere`, () => {
    for (let cut = 0; cut <= bytes.length; cut++) {
      const reader = new SpdyFrameReader();
      assert.deepEqual(read(reader, bytes.subarray(0, cut), bytes.subarray(cut)), seen);
      assert.equal(reader.bufferedBytes, 0);
    }
    assert.deepEqual(read(new SpdyFrameReader(), ...[...bytes].map((byte) => Buffer.of(byte))), seen);
  });
}

const malformed: readonly [name: string, hex: string][] = [
  ['another version', '8002000100000000'],
  ['a control frame that is too long', '8003000100010001'],
  ['data for stream 0', '0000000000000001'],
];
for (const [name, hex] of malformed) {
  test(`${name} is an error`, () => {
    const reader = new SpdyFrameReader();
    reader.push(Buffer.from(hex, 'hex'));
    assert.throws(() => reader.next(), SpdyProtocolError);
  });
}

test('data frames are handed on as they come, whatever length they announce', () => {
  const reader = new SpdyFrameReader();
  reader.push(dataFrameHead(1, 0xffffff, true));
  let pieces = 0;
  for (let at = 0; at < 0xffffff; at += 65_793) {
    reader.push(Buffer.alloc(65_793));
    const frame: SpdyFrame | undefined = reader.next();
    assert.equal(frame?.kind === 'data' && frame.bytes.length, 65_793);
    assert.equal(frame?.kind === 'data' && frame.fin, at + 65_793 === 0xffffff);
    assert.equal(reader.bufferedBytes, 0);
    pieces++;
  }
  assert.equal(pieces, 255);
});

test('whatever comes, what is kept is less than a control frame and a chunk', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 60 }), (chunks) => {
      const reader = new SpdyFrameReader();
      try {
        for (const chunk of chunks) {
          reader.push(Buffer.from(chunk));
          while (reader.next() !== undefined);
          assert.ok(reader.bufferedBytes < MAX_CONTROL_FRAME_BYTES + 8);
        }
      } catch (error) {
        assert.ok(error instanceof SpdyProtocolError);
      }
    }),
    { numRuns: 2_000 },
  );
});
