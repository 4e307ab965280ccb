import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import { SpdyClient } from '../../../../src/base/spdy/spdy-client.ts';
import { controlFrame, dataFrameHead, FrameType, synReplyFrame } from '../../../../src/base/spdy/spdy-frame.ts';
import { HeaderPacker } from '../../../../src/base/spdy/spdy-header-block.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const bytes = (maxLength: number): fc.Arbitrary<Buffer> => fc.uint8Array({ maxLength }).map((part) => Buffer.from(part));
const streamId = fc.integer({ min: 0, max: 6 });

/** What a server could send, well-formed or not. */
const said = fc.array(
  fc.oneof(
    fc.tuple(streamId, bytes(50), fc.boolean()).map(([id, data, fin]) => Buffer.concat([dataFrameHead(id, data.length, fin), data])),
    streamId.map((id) => synReplyFrame(id, new HeaderPacker().encode(new Map()))),
    fc
      .tuple(fc.constantFrom(...Object.values(FrameType)), fc.nat(255), bytes(40))
      .map(([type, flags, body]) => controlFrame(type, flags, body)),
    bytes(30),
  ),
  { maxLength: 20 },
);

test('whatever a server says, each stream is opened or refused, and all is over once the server has hung up', async () => {
  await fc.assert(
    fc.asyncProperty(said, fc.integer({ min: 1, max: 40 }), async (parts, cut) => {
      const clock = new FakeClock();
      const [near, far] = duplexPair();
      const client = new SpdyClient(near, Buffer.alloc(0), { streamBufferBytes: 16, clock });
      const opened = [1, 3].map(() => client.open({ streamtype: 'x' }, new AbortController().signal));
      far.resume();
      const all = Buffer.concat(parts);
      for (let at = 0; at < all.length; at += cut) far.write(all.subarray(at, at + cut));
      far.end();
      // Side by side: one that is not read holds up the other.
      await Promise.all(
        (await Promise.allSettled(opened)).map(async (outcome) => {
          if (outcome.status === 'fulfilled') for await (const part of outcome.value) assert.ok(Buffer.isBuffer(part));
          else assert.ok(outcome.reason instanceof Error && outcome.reason.message !== '');
        }),
      );
      await client.close();
      assert.ok(client.over.aborted);
      assert.equal(clock.actions.length, 0, 'no timer is left');
    }),
    { numRuns: 300, timeout: 10_000 },
  );
});
