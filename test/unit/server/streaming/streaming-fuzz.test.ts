// Whatever a client sends: no crash, no memory without a bound, no timer or listener left, and in the end a closed socket.
import assert from 'node:assert/strict';
import { IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { type Duplex, duplexPair, PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import { constants, deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { silentLogger } from '../../../../src/base/logger.ts';
import { serveExec } from '../../../../src/server/streaming/serve-remote-command.ts';
import { servePortForward } from '../../../../src/server/streaming/serve-port-forward.ts';
import { spdyDictionary } from '../../../../src/base/spdy/spdy-dictionary.ts';
import { serializeHeaders } from '../../../../src/base/spdy/spdy-header-block.ts';
import { dataFrameHead } from '../../../../src/base/spdy/spdy-frame.ts';
import { routeRequest } from '../../../builders/a-streaming-server.ts';
import { spdyHeaders } from '../../../builders/upgrade.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { FakeSession } from '../../../fakes/fake-session.ts';

const FRAMES_PER_CONNECTION = 50;
const CONNECTIONS = 900;
const MAX_BUFFERED_BYTES = 2_000_000;

let framesSent = 0;
const unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => unhandled.push(error));
after(() => {
  assert.deepEqual(unhandled, []);
  assert.ok(framesSent >= 100_000, `${framesSent} frames`);
});

// --- frames of SPDY

const bytes = (maxLength: number): fc.Arbitrary<Buffer> => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
const streamId = fc.oneof(
  { weight: 200, arbitrary: fc.integer({ min: 1, max: 14 }) },
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 0x7fffffff }) },
  { weight: 1, arbitrary: fc.constant(0) },
);
const header = fc.constantFrom('streamtype', 'port', 'requestid', 'x');
const value = fc.oneof(
  fc.constantFrom('error', 'stdin', 'stdout', 'stderr', 'resize', 'data', '80', '81', '0', '70000', ''),
  fc.string({ maxLength: 8 }),
);

/** Each block begins a context of its own, as the first of a connection does: later ones are garbage, or a stored block that fits. */
const headers = fc.array(fc.tuple(header, value), { maxLength: 4 }).map((pairs) => serializeHeaders(new Map(pairs)));
const headerBlock = fc.oneof(
  { weight: 30, arbitrary: headers.map(storedBlock) },
  {
    weight: 1,
    arbitrary: headers.map((plain) => deflateSync(plain, { dictionary: spdyDictionary(), finishFlush: constants.Z_SYNC_FLUSH })),
  },
  { weight: 1, arbitrary: bytes(40) },
);

/** Fits into any context that has begun. */
function storedBlock(plain: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt16LE(plain.length, 1);
  head.writeUInt16LE(~plain.length & 0xffff, 3);
  return Buffer.concat([head, plain]);
}

/** Header blocks where they belong, and now and then anywhere. */
const control = fc
  .tuple(
    fc.oneof(
      { weight: 90, arbitrary: fc.constantFrom(1, 1, 2, 3, 4, 5, 6, 8, 9) },
      { weight: 9, arbitrary: fc.nat(0xffff) },
      { weight: 1, arbitrary: fc.constant(7) },
    ),
    fc.constantFrom(0, 0, 1, 2, 255),
    streamId,
    headerBlock,
    bytes(12),
    fc.integer({ min: 0, max: 60 }),
  )
  .map(([type, flags, id, block, rest, odd]) => {
    const holdsHeaders = type === 1 || type === 2 || type === 8;
    const payload = holdsHeaders === odd > 0 ? block : Buffer.concat([words(1), rest]);
    const body = Buffer.concat([words(id), type === 1 ? Buffer.alloc(6) : Buffer.alloc(0), payload]);
    return Buffer.concat([words((0x80030000 | type) >>> 0, ((flags << 24) | body.length) >>> 0), body]);
  });
const data = fc
  .tuple(streamId, fc.boolean(), bytes(200))
  .map(([id, fin, payload]) => Buffer.concat([dataFrameHead(id, payload.length, fin), payload]));
const spdyFrame = fc.oneof({ weight: 5, arbitrary: control }, { weight: 5, arbitrary: data });

function words(...values: readonly number[]): Buffer {
  const out = Buffer.alloc(values.length * 4);
  values.forEach((word, index) => out.writeUInt32BE(word, index * 4));
  return out;
}

/** A client that knows its protocol and opens what it needs, before it goes mad. */
function spdyOpening(types: readonly string[]): Buffer {
  let first = true;
  return Buffer.concat(
    types.map((type, index) => {
      const plain = serializeHeaders(
        new Map([
          ['streamtype', type],
          ['port', '80'],
          ['requestid', String(index >> 1)],
        ]),
      );
      const block = Buffer.concat([first ? Buffer.of(0x78, 0x01) : Buffer.alloc(0), storedBlock(plain), Buffer.of(0, 0, 0, 0xff, 0xff)]);
      first = false;
      const body = Buffer.concat([words(index * 2 + 1, 0), Buffer.alloc(2), block]);
      return Buffer.concat([words(0x80030001, body.length), body]);
    }),
  );
}

// --- frames of WebSocket

const webSocketFrame = fc
  .tuple(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(0x82, 0x81, 0x89, 0x8a, 0x02, 0x00, 0x80) },
      { weight: 1, arbitrary: fc.constantFrom(0x88, 0xc2, 0xff, 0x83) },
    ),
    fc.constantFrom(true, true, true, true, true, true, true, true, false),
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(0, 1, 2, 3, 4, 9, 48, 50, 255) }, fc.nat(255)),
    bytes(150),
  )
  .map(([first, masked, channel, payload]) => {
    const body = Buffer.concat([Buffer.of(channel), payload]).subarray(0, first >= 0x88 ? 120 : undefined);
    const mask = masked ? 0x80 : 0;
    const head =
      body.length < 126 ? Buffer.of(first, mask | body.length) : Buffer.of(first, mask | 126, body.length >> 8, body.length & 0xff);
    return Buffer.concat([head, masked ? Buffer.alloc(4) : Buffer.alloc(0), body]);
  });

// --- what is done to them

interface Plan {
  readonly frames: readonly Buffer[];
  /** Bytes overwritten: position, as a fraction, and value. */
  readonly damage: readonly (readonly [at: number, byte: number])[];
  readonly cuts: readonly number[];
  readonly valid: boolean;
  /** Whether the client takes what the server says. */
  readonly reads: boolean;
  readonly leaves: 'end' | 'destroy';
}

const plan = (frame: fc.Arbitrary<Buffer>): fc.Arbitrary<Plan> =>
  fc.record({
    frames: fc.array(frame, { minLength: FRAMES_PER_CONNECTION, maxLength: FRAMES_PER_CONNECTION }),
    damage: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      fc.array(fc.tuple(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(255)), { maxLength: 3 }),
    ),
    cuts: fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 12 }),
    valid: fc.constantFrom(true, true, true, true, false),
    reads: fc.boolean(),
    leaves: fc.constantFrom('end', 'destroy'),
  });

async function attack(
  query: string,
  headers: IncomingHttpHeaders,
  opening: Buffer,
  { frames, damage, cuts, valid, reads, leaves }: Plan,
): Promise<void> {
  const clock = new FakeClock();
  const [near, far] = duplexPair();
  far.on('error', () => {});
  if (reads) far.resume();
  const message = new IncomingMessage(new Socket());
  Object.assign(message, { method: 'GET', url: `/x?${query}` });
  message.headers = headers;
  message.headersDistinct = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, [String(text)]]));
  const dialled: Duplex[] = [];
  const common = { idleTimeoutMs: 60_000, streamCreationTimeoutMs: 30_000, clock, log: silentLogger };
  const request = routeRequest(message, near);
  const sessions: FakeSession[] = [];
  const served = query.startsWith('port')
    ? servePortForward(request, near, Buffer.alloc(0), {
        ...common,
        pod: 'p',
        dial: (port) => {
          if (port !== 80) return Promise.reject(new Error('refused'));
          const echo = new PassThrough();
          dialled.push(echo);
          return Promise.resolve(echo);
        },
      })
    : serveExec(request, near, Buffer.alloc(0), {
        ...common,
        open: (wanted, signal) => {
          const session = new FakeSession(wanted, signal);
          sessions.push(session);
          session.stdin?.on('data', (chunk) => session.stdout?.write(chunk));
          return Promise.resolve(session);
        },
      });
  const session = { over: false };
  const over = served.finally(() => (session.over = true));

  const stream = Buffer.concat([...(valid ? [opening] : []), ...frames]);
  for (const [at, byte] of damage) stream[Math.floor(at * stream.length)] = byte;
  // Frames that reach a connection that has not given up.
  let end = valid ? opening.length : 0;
  const ends: number[] = frames.map((frame) => (end += frame.length));
  let at = 0;
  for (let cut = 0; at < stream.length && !near.writableEnded && !near.destroyed; cut++) {
    at += cuts[cut % cuts.length] ?? 1;
    far.write(stream.subarray(at - (cuts[cut % cuts.length] ?? 1), at));
    if (cut % 8 === 0) await new Promise((done) => setImmediate(done));
    assert.ok(near.readableLength + near.writableLength < MAX_BUFFERED_BYTES);
  }
  framesSent += ends.filter((frameEnd) => frameEnd <= at).length;
  await clock.advance(0);
  if (leaves === 'end') far.resume().end();
  else {
    far.destroy();
    // A pair in memory does not tell its other end.
    near.destroy();
  }
  // Nothing takes longer than the longest of its timeouts.
  for (let i = 0; i < 20 && !session.over; i++) await clock.advance(30_000);
  await over;
  assert.equal(near.destroyed, true, 'the socket is closed');
  await clock.advance(10_000);
  assert.equal(clock.actions.length, 0, 'no timer is left');
  assert.deepEqual([near.listenerCount('data'), near.listenerCount('drain')], [0, 0], 'no listener is left');
  for (const each of sessions) assert.equal(each.signal.aborted, true, 'the session knows');
  for (const connection of dialled) assert.equal(connection.destroyed, true, 'the port is let go');
}

const webSocketHeaders = (protocol: string): IncomingHttpHeaders => ({
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  ...(protocol === '' ? {} : { 'sec-websocket-protocol': protocol }),
});
const opening = { exec: spdyOpening(['error', 'stdin', 'stdout', 'resize']), forward: spdyOpening(['error', 'data', 'error', 'data']) };

const attacks: readonly [name: string, frame: fc.Arbitrary<Buffer>, run: (plan: Plan) => Promise<void>][] = [
  ['exec over SPDY', spdyFrame, (each) => attack('input=1&output=1&tty=1', spdyHeaders('v4.channel.k8s.io'), opening.exec, each)],
  ['port-forward over SPDY', spdyFrame, (each) => attack('port', spdyHeaders('portforward.k8s.io'), opening.forward, each)],
  [
    'exec over WebSocket',
    webSocketFrame,
    (each) => attack('input=1&output=1&tty=1', webSocketHeaders('v5.channel.k8s.io'), Buffer.alloc(0), each),
  ],
  [
    'exec over WebSocket, base64',
    webSocketFrame,
    (each) => attack('input=1&output=1', webSocketHeaders('base64.channel.k8s.io'), Buffer.alloc(0), each),
  ],
  [
    'port-forward over WebSocket',
    webSocketFrame,
    (each) => attack('port=80,81', webSocketHeaders('v4.channel.k8s.io'), Buffer.alloc(0), each),
  ],
];
for (const [name, frame, run] of attacks) {
  test(`${name} survives whatever a client sends`, async () => {
    await fc.assert(fc.asyncProperty(plan(frame), run), { numRuns: CONNECTIONS });
  });
}
