import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { demux, EngineStreamError, type OutputStream } from '../../../../../src/engines/docker/client/demux.ts';

function frame(kind: number, bytes: Uint8Array): Buffer {
  const header = Buffer.from([kind, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

/** Cuts at the given places, any number of times at the same one. */
function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const edges = [0, ...at.map((n) => n % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}

function outputs(chunks: readonly Buffer[]): Record<OutputStream, Buffer> {
  const pieces: Record<OutputStream, Buffer[]> = { stdout: [], stderr: [] };
  const feed = demux((stream, bytes) => pieces[stream].push(bytes));
  for (const chunk of chunks) feed(chunk);
  return { stdout: Buffer.concat(pieces.stdout), stderr: Buffer.concat(pieces.stderr) };
}

describe("the engine's framed output", () => {
  test('comes apart the same, wherever the connection cuts it', () => {
    const frames = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.uint8Array({ maxLength: 40 })), { maxLength: 20 });
    fc.assert(
      fc.property(frames, fc.array(fc.nat(2_000), { maxLength: 30 }), (all, at) => {
        const of = (stderr: boolean): Buffer => Buffer.concat(all.flatMap(([kind, bytes]) => ((kind === 2) === stderr ? [bytes] : [])));
        const wire = Buffer.concat(all.map(([kind, bytes]) => frame(kind, bytes)));
        assert.deepEqual(outputs(cut(wire, at)), { stdout: of(false), stderr: of(true) });
      }),
    );
  });

  test('hands on pieces of a long frame as they come, without a copy', () => {
    const seen: Buffer[] = [];
    const feed = demux((_, bytes) => seen.push(bytes));
    const wire = frame(1, Buffer.alloc(1_000, 'x'));
    feed(wire.subarray(0, 500));
    assert.deepEqual(
      seen.map((piece) => [piece.length, piece.buffer === wire.buffer]),
      [[492, true]],
    );
  });

  test("that is the daemon's own voice is an error in its words", () => {
    const wire = frame(3, Buffer.from('no space left'));
    for (const at of [3, 8, 12]) {
      assert.throws(
        () => outputs(cut(wire, [at])),
        (error) => error instanceof EngineStreamError && error.message === 'error from daemon in stream: no space left',
      );
    }
  });

  test('that is none is an error', () => {
    assert.throws(() => outputs([Buffer.from('plain text, no frames')]), EngineStreamError);
  });
});
