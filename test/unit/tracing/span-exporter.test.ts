import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { test, type TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { GrpcChannel } from '../../../src/base/grpc/grpc-channel.ts';
import { GrpcError } from '../../../src/base/grpc/grpc-error.ts';
import type { GrpcTarget } from '../../../src/base/grpc/grpc-connection.ts';
import { otlpTraces } from '../../../src/tracing/otlp-traces.ts';
import type { Span } from '../../../src/tracing/span.ts';
import { MOST_AT_ONCE, MOST_WAITING, SpanExporter } from '../../../src/tracing/span-exporter.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { type Answering, finish, otlpReceiver } from '../../fakes/otlp-receiver.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const never = new AbortController().signal;

const aSpan = (name: string): Span => ({
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentSpanId: undefined,
  name,
  kind: 'internal',
  startMs: 1,
  endMs: 2,
  attributes: {},
  error: undefined,
});

type Send = (spans: readonly Span[], timeoutMs: number, signal: AbortSignal) => Promise<unknown>;

function exporting(test_: TestContext, send: Send) {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  let hungUp = 0;
  const exporter = new SpanExporter({ send, hangUp: () => void hungUp++, clock, random: () => 0, log, endpoint: 'otel:4317' });
  const stop = new AbortController();
  const done = exporter.run(stop.signal);
  test_.after(async () => {
    stop.abort();
    await clock.until(done, 1000);
  });
  return { clock, log, exporter, stop, done, hungUp: () => hungUp };
}

test('spans go in batches, a few seconds after they have come, or as soon as a batch is full', async (t) => {
  const sent: number[] = [];
  const { clock, exporter } = exporting(t, async (spans) => void sent.push(spans.length));
  exporter.add(aSpan('1'));
  exporter.add(aSpan('2'));
  await clock.advance(4_999);
  assert.deepEqual(sent, []);
  await clock.advance(1);
  assert.deepEqual(sent, [2]);
  for (let i = 0; i < MOST_AT_ONCE + 3; i++) exporter.add(aSpan(`${i}`));
  await clock.advance(0);
  assert.deepEqual(sent, [2, MOST_AT_ONCE]);
  await clock.advance(5_000);
  assert.deepEqual(sent, [2, MOST_AT_ONCE, 3]);
});

test('while the collector refuses so many wait and no more; it is said once, and once when it takes them again', async (t) => {
  let refuses = true;
  const sent: string[] = [];
  const { clock, log, exporter, hungUp } = exporting(t, async (spans) => {
    if (refuses) throw new Error('otel:4317: connect ECONNREFUSED');
    sent.push(...spans.map(({ name }) => name));
  });
  for (let i = 0; i < MOST_WAITING + 100; i++) exporter.add(aSpan(`${i}`));
  assert.equal(exporter.dropped, 100);
  await clock.advance(600_000);
  assert.ok(hungUp() > 5);
  assert.deepEqual(
    log.lines.map(({ level, message }) => `${level}: ${message}`),
    [
      'warn: spans are dropped: the collector takes them too slowly, or not at all',
      'warn: spans cannot be sent, trying again: is a collector there that takes OTLP over gRPC?',
    ],
  );
  refuses = false;
  await clock.advance(120_000);
  assert.deepEqual(
    sent,
    Array.from({ length: MOST_WAITING }, (_, i) => `${i}`),
  );
  assert.deepEqual(log.lines.slice(2), [
    { level: 'info', message: 'spans are sent again', fields: { endpoint: 'otel:4317', dropped: 100 } },
  ]);
});

test('what is refused for good is not sent again', async (t) => {
  const sent: string[] = [];
  const { clock, exporter } = exporting(t, async (spans) => {
    sent.push(...spans.map(({ name }) => name));
    throw new GrpcError('Export', { code: 'InvalidArgument', details: 'no spans' });
  });
  exporter.add(aSpan('1'));
  await clock.advance(5_000);
  exporter.add(aSpan('2'));
  await clock.advance(60_000);
  assert.deepEqual(sent, ['1', '2']);
  assert.equal(exporter.dropped, 2);
});

test('a sending that hangs is given up after ten seconds; at the end two are all there is', async (t) => {
  let sendings = 0;
  const { clock, exporter, stop, done } = exporting(
    t,
    (_spans, _timeoutMs, signal) =>
      new Promise((_, reject) => {
        sendings++;
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  );
  exporter.add(aSpan('1'));
  await clock.advance(14_999);
  assert.equal(sendings, 1);
  await clock.advance(1_001);
  assert.equal(sendings, 2);
  stop.abort();
  let hasEnded = false;
  void done.then(() => (hasEnded = true));
  await clock.advance(1_999);
  assert.equal(hasEnded, false);
  await clock.advance(1);
  assert.equal(hasEnded, true);
});

const channelTo = (target: GrpcTarget): GrpcChannel =>
  new GrpcChannel({ target, clock: systemClock, userAgent: 'a-test', maxMessageBytes: 65_536 });
const send = (channel: GrpcChannel, timeoutMs = 5_000): Promise<unknown> => channel.unary(EXPORT, lines, { timeoutMs }, never);

const lines = otlpTraces([aSpan('x')], { resource: {}, scope: { name: 's', version: '1' } });

test('a collector that takes them has them, over one connection', async (t) => {
  const receiver = await otlpReceiver(t);
  const [host = '', port] = receiver.endpoint.split(':');
  const channel = channelTo({ host, port: Number(port) });
  t.after(() => channel.close());
  await send(channel);
  await send(channel);
  assert.deepEqual(
    receiver.spans().map(({ name }) => name),
    ['x', 'x'],
  );
  assert.equal(receiver.connections(), 1);
});

/** What it makes of a call, and how the call ends. */
const answers: readonly (readonly [string, Answering, RegExp])[] = [
  [
    'says no in its trailers',
    (stream) => finish(stream, { 'grpc-status': '8', 'grpc-message': 'too%20much' }),
    /code = ResourceExhausted desc = too much$/,
  ],
  [
    'says no at once',
    (stream) => stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' }, { endStream: true }),
    /code = Unauthenticated/,
  ],
  ['is no gRPC server', (stream) => (stream.respond({ ':status': 404 }), stream.end('not found')), /code = Unimplemented/],
  ['ends without a status', (stream) => (stream.respond({ ':status': 200 }), stream.end()), /code = Unknown/],
  [
    'answers without end',
    (stream) => (stream.respond({ ':status': 200 }), stream.write(Buffer.alloc(1 << 20))),
    /code = (Unknown|ResourceExhausted)/,
  ],
  ['breaks off', (stream) => stream.session?.destroy(), /code = Unavailable/],
  ['shouts', (stream) => finish(stream, { 'grpc-status': '13', 'grpc-message': 'x'.repeat(10_000) }), /code = Internal/],
];

for (const [what, answer, expected] of answers) {
  test(`a collector that ${what}: the call ends, and the next one is a new try`, async (t) => {
    let isBad = true;
    const receiver = await otlpReceiver(t, {
      answer: (stream, request) => (isBad ? answer(stream, request) : finish(stream, { 'grpc-status': '0' })),
    });
    const [host = '', port] = receiver.endpoint.split(':');
    const channel = channelTo({ host, port: Number(port) });
    t.after(() => channel.close());
    await assert.rejects(send(channel), expected);
    isBad = false;
    await send(channel);
  });
}

/** What listens, and is no collector at all. */
const strangers: readonly (readonly [string, () => Server])[] = [
  ['hangs', () => createServer(() => {})],
  ['speaks something else', () => createServer((socket) => void socket.on('error', () => {}).end('220 mail ready\r\n'))],
  ['speaks HTTP/1.1', () => createHttpServer((_request, response) => void response.end('hello'))],
  ['hangs up', () => createServer((socket) => void socket.destroy())],
];

for (const [what, serve] of strangers) {
  test(`where something listens that ${what} the call ends, at the latest with its time`, async (t) => {
    const server = serve();
    const open = new Set<{ destroy(): unknown }>();
    server.on('connection', (socket) => open.add(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      for (const socket of open) socket.destroy();
      server.close();
    });
    const channel = channelTo({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
    t.after(() => channel.close());
    await assert.rejects(send(channel, 500), GrpcError);
  });
}

test('where nothing listens the call says so', async () => {
  const channel = channelTo({ socketPath: '/nonexistent/otel.sock' });
  await assert.rejects(send(channel), /connect ENOENT \/nonexistent\/otel\.sock/);
  channel.close();
});
