import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { SpdyClient } from '../../../../src/base/spdy/spdy-client.ts';
import { dataFrameHead, ResetStatus, resetFrame, synReplyFrame } from '../../../../src/base/spdy/spdy-frame.ts';
import { HeaderPacker } from '../../../../src/base/spdy/spdy-header-block.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const data = (id: number, bytes: string, fin = false): Buffer => Buffer.concat([dataFrameHead(id, bytes.length, fin), Buffer.from(bytes)]);

test(
  'a stream whose data comes before the answer is refused, at its buffer’s limit too; its neighbour goes on',
  { timeout: 20_000 },
  async () => {
    for (const bytes of ['x', 'x'.repeat(16), 'x'.repeat(160)]) {
      const [near, far] = duplexPair();
      const client = new SpdyClient(near, Buffer.alloc(0), { streamBufferBytes: 16, clock: new FakeClock() });
      const sent: Buffer[] = [];
      far.on('data', (chunk: Buffer) => sent.push(chunk));
      const [early, other] = [1, 3].map(() => client.open({ streamtype: 'x' }, new AbortController().signal));
      const refused = assert.rejects(early ?? Promise.resolve(), /^Error: the server sent data of the stream before it answered for it$/);
      const packer = new HeaderPacker();
      for (const frame of [
        data(1, bytes),
        data(1, bytes),
        synReplyFrame(1, packer.encode(new Map())),
        synReplyFrame(3, packer.encode(new Map())),
      ])
        far.write(frame);
      await refused;
      const stream = await other;
      assert.ok(stream);
      far.write(data(3, 'here', true));
      assert.equal(await text(stream), 'here');
      far.end();
      await client.close();
      assert.ok(Buffer.concat(sent).includes(resetFrame(1, ResetStatus.PROTOCOL_ERROR)), 'the server hears of it');
    }
  },
);

test('what a server says before it closes is read, also while it is written to', { timeout: 20_000 }, async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const near = connect(address.port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  const client = new SpdyClient(near, Buffer.alloc(0), { streamBufferBytes: 1 << 16, clock: new FakeClock() });
  const opened = client.open({ streamtype: 'x' }, new AbortController().signal);
  await once(far, 'data');
  far.write(synReplyFrame(1, new HeaderPacker().encode(new Map())));
  const stream = await opened;
  const said = text(stream);
  // It has read enough, and closes with more unread, in the midst of what is written.
  far.once('data', () => {
    far.write(data(1, 'exit 4'));
    far.resetAndDestroy();
    stream.write('more');
  });
  stream.write('input');
  assert.equal(await said, 'exit 4');
});
