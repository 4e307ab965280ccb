import assert from 'node:assert/strict';
import { once } from 'node:events';
import { duplexPair, type Duplex } from 'node:stream';
import { test } from 'node:test';
import { constants, deflateSync } from 'node:zlib';
import { silentLogger } from '../../../../src/base/logger.ts';
import { SpdyConnection } from '../../../../src/base/spdy/spdy-connection.ts';
import { spdyDictionary } from '../../../../src/base/spdy/spdy-dictionary.ts';
import { controlFrame, dataFrameHead, FrameType, goAwayFrame, pingFrame, synStreamFrame } from '../../../../src/base/spdy/spdy-frame.ts';
import { serializeHeaders } from '../../../../src/base/spdy/spdy-header-block.ts';
import type { SpdyStream } from '../../../../src/base/spdy/spdy-stream.ts';
import { SpdyClient } from '../../../builders/spdy-client.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

function setUp(head: Buffer = Buffer.alloc(0)) {
  const clock = new FakeClock();
  const [near, far] = duplexPair();
  const streams: SpdyStream[] = [];
  const connection = new SpdyConnection(near, head, {
    accepts: (headers) => headers.get('refuse') === undefined,
    onStream: (stream) => streams.push(stream),
    maxStreams: 3,
    streamBufferBytes: 64 * 1024,
    idleTimeoutMs: 60_000,
    clock,
    log: silentLogger,
  });
  return {
    clock,
    connection,
    near,
    far,
    streams,
    async [Symbol.asyncDispose]() {
      far.resume().end();
      await connection.close();
      assert.equal(clock.actions.length, 0, 'no timer is left');
      assert.equal(connection.streamCount, 0);
      assert.deepEqual([near.listenerCount('data'), near.listenerCount('drain')], [0, 0]);
    },
  };
}

const tick = (): Promise<void> => new Promise((done) => setImmediate(done));
const untilOver = async (connection: SpdyConnection): Promise<void> => {
  if (!connection.over.aborted) await once(connection.over, 'abort');
};
const headerBlock = (headers: Record<string, string>): Buffer =>
  deflateSync(serializeHeaders(new Map(Object.entries(headers))), { dictionary: spdyDictionary(), finishFlush: constants.Z_SYNC_FLUSH });

test('streams share one compression context, and their headers come in small letters', async () => {
  await using at = setUp();
  const client = new SpdyClient(at.far);
  for (const streamType of ['error', 'stdin', 'stdout']) await client.open({ streamType, 'X-Long': 'long value '.repeat(20) });
  assert.deepEqual(
    at.streams.map((stream) => [stream.id, stream.headers.get('streamtype')]),
    [
      [1, 'error'],
      [3, 'stdin'],
      [5, 'stdout'],
    ],
  );
});

test('a stream too many and one that is not accepted are refused, and the context goes on', async () => {
  await using at = setUp();
  const client = new SpdyClient(at.far);
  await assert.rejects(client.open({ refuse: 'me' }), /status 3/);
  for (const name of ['a', 'b', 'c']) await client.open({ name });
  await assert.rejects(client.open({ name: 'd' }), /status 3/);
  client.streams.get(3)!.reset();
  while (at.connection.streamCount > 2) await tick();
  await client.open({ name: 'e' });
  assert.equal(at.streams.at(-1)!.headers.get('name'), 'e');
});

test('what was read with the upgrade comes first', async () => {
  await using at = setUp(synStreamFrame(1, headerBlock({ name: 'early' })));
  at.far.write(dataFrameHead(1, 2, true));
  at.far.write('hi');
  while (at.streams.length === 0) await tick();
  assert.equal(String(Buffer.concat(await at.streams[0]!.toArray())), 'hi');
});

test('each side closes its half', async () => {
  await using at = setUp();
  const client = new SpdyClient(at.far);
  const theirs = await client.open({ name: 'a' });
  const [ours] = at.streams;
  theirs.end('question');
  assert.equal(String(Buffer.concat(await ours!.toArray())), 'question');
  ours!.end('answer');
  assert.equal(await theirs.text(), 'answer');
  while (at.connection.streamCount > 0) await tick();
  assert.equal(theirs.resetWith, undefined);
});

test('pings are echoed, answers to ours are not', async () => {
  await using at = setUp();
  const client = new SpdyClient(at.far);
  client.ping(2);
  client.ping(7);
  while (client.pings.length === 0) await tick();
  assert.deepEqual(client.pings, [7]);
});

test('who asks and does not listen is not listened to', async () => {
  await using at = setUp();
  const pings = Buffer.concat(Array.from({ length: 1_000 }, () => pingFrame(1)));
  let sent = 0;
  for (let i = 0; i < 1_000; i++) {
    sent += pings.length;
    at.far.write(pings);
    if (i % 50 === 0) await tick();
  }
  await tick();
  assert.ok(at.connection.bufferedBytes < 2_000_000, `${at.connection.bufferedBytes} of ${sent} bytes kept`);
});

test('a stream that nobody reads pauses the connection', async () => {
  await using at = setUp();
  const client = new SpdyClient(at.far);
  const stream = await client.open({ name: 'a' });
  const accepted: number[] = [];
  for (let i = 0; i < 100; i++) stream.write(Buffer.alloc(64 * 1024), () => accepted.push(i));
  for (let i = 0; i < 50; i++) await tick();
  assert.ok(accepted.length < 10, `${accepted.length} pieces`);
  assert.ok(at.connection.bufferedBytes < 512 * 1024);
  at.streams[0]!.resume();
  while (accepted.length < 100) await tick();
});

test('data for a stream that we have reset is dropped without a word; for one that never was it is reset', async () => {
  await using at = setUp();
  const client = new SpdyClient(at.far);
  const stream = await client.open({ name: 'a' });
  at.streams[0]!.destroy();
  while (stream.resetWith === undefined) await tick();
  assert.equal(stream.resetWith, 5);
  const seen: Buffer[] = [];
  at.far.on('data', (bytes: Buffer) => seen.push(bytes));
  at.far.write(Buffer.concat([dataFrameHead(1, 0, true), dataFrameHead(9, 0, true)]));
  while (seen.length === 0) await tick();
  assert.equal(Buffer.concat(seen).toString('hex'), '80030003000000080000000900000002');
});

const endings: readonly [
  name: string,
  send: (far: Duplex) => unknown,
  reason: RegExp,
  goAway: { lastStreamId: number; status: number } | undefined,
][] = [
  ['a goodbye', (far) => far.write(goAwayFrame(0, 0)), /client has gone away/, { lastStreamId: 1, status: 0 }],
  ['an end', (far) => far.end(), /connection closed/, undefined],
  ['another version', (far) => far.write(Buffer.from('8002000100000000', 'hex')), /SPDY version 2/, { lastStreamId: 1, status: 1 }],
  [
    'a frame cut short',
    (far) => far.write(controlFrame(FrameType.RST_STREAM, 0, Buffer.of(0, 0, 0, 1))),
    /cut short/,
    { lastStreamId: 1, status: 1 },
  ],
  ['headers that are no headers', (far) => far.write(synStreamFrame(3, Buffer.from('nonsense'))), /./, { lastStreamId: 1, status: 1 }],
  ['stream 0', (far) => far.write(synStreamFrame(0, Buffer.alloc(0))), /./, { lastStreamId: 1, status: 1 }],
];
for (const [name, send, reason, goAway] of endings) {
  test(`${name} ends the connection and its streams`, async () => {
    await using at = setUp();
    const client = new SpdyClient(at.far);
    await client.open({ name: 'a' });
    send(at.far);
    await untilOver(at.connection);
    assert.match(String(at.connection.over.reason), reason);
    assert.equal(at.streams[0]!.destroyed, true);
    if (goAway !== undefined) while (client.goAway === undefined) await tick();
    assert.deepEqual(client.goAway, goAway);
  });
}

test('a small block that unpacks to a large one is refused', async () => {
  await using at = setUp();
  const bomb = deflateSync(Buffer.alloc(40_000_000), { dictionary: spdyDictionary(), finishFlush: constants.Z_SYNC_FLUSH });
  assert.ok(bomb.length < 60_000);
  at.far.write(synStreamFrame(1, bomb));
  await untilOver(at.connection);
  assert.match(String(at.connection.over.reason), /header block of more than 65536 bytes/);
});

test('a compression that ends leaves nothing to hang on', async () => {
  await using at = setUp();
  const ended = deflateSync(serializeHeaders(new Map([['name', 'a']])), { dictionary: spdyDictionary() });
  at.far.write(Buffer.concat([synStreamFrame(1, ended), synStreamFrame(3, ended), synStreamFrame(5, ended)]));
  await untilOver(at.connection);
});

test('numbers that were used, and even ones, are refused', async () => {
  await using at = setUp();
  const client = new SpdyClient(at.far);
  await client.open({ name: 'a' });
  at.far.write(synStreamFrame(2, await client.headerBlock({ name: 'b' })));
  at.far.write(synStreamFrame(1, await client.headerBlock({ name: 'c' })));
  await client.open({ name: 'd' });
  assert.deepEqual(
    at.streams.map((stream) => stream.headers.get('name')),
    ['a', 'd'],
  );
});

test('headers that come later are part of the context', async () => {
  await using at = setUp();
  const client = new SpdyClient(at.far);
  await client.open({ name: 'a' });
  at.far.write(controlFrame(FrameType.HEADERS, 0, Buffer.of(0, 0, 0, 1), await client.headerBlock({ more: 'x' })));
  await client.open({ name: 'b' });
  assert.equal(at.streams[1]!.headers.get('name'), 'b');
});

test('the idle timeout counts from the last frame', async () => {
  await using at = setUp();
  const client = new SpdyClient(at.far);
  await at.clock.advance(59_999);
  client.ping(1);
  await at.clock.advance(59_999);
  assert.equal(at.connection.over.aborted, false);
  await at.clock.advance(1);
  assert.match(String(at.connection.over.reason), /idle/);
});

test('a peer that never takes the goodbye is cut off', async () => {
  await using at = setUp();
  const closed = at.connection.close();
  await at.clock.advance(60_000);
  await closed;
  assert.equal(at.near.destroyed, true);
});
