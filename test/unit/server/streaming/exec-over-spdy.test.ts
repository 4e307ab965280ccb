import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { serveAttach } from '../../../../src/server/streaming/serve-remote-command.ts';
import { execServer, type ExecServerOptions } from '../../../builders/an-exec-server.ts';
import type { ClientStream, SpdyClient } from '../../../builders/spdy-client.ts';
import { connectSpdy, spdyHeaders, upgrade } from '../../../builders/upgrade.ts';
import type { FakeSession } from '../../../fakes/fake-session.ts';

const V4 = 'v4.channel.k8s.io';
const IDLE_MS = 4 * 3_600_000;

async function setUp(options: Omit<ExecServerOptions, 'idleTimeoutMs'> = {}) {
  const served = await execServer({ idleTimeoutMs: IDLE_MS, ...options });
  return {
    ...served,
    connect: (path: string, ...protocols: string[]) =>
      connectSpdy({ port: served.server.port, path }, protocols.length > 0 ? protocols : [V4]),
  };
}

async function open(client: SpdyClient, ...types: string[]): Promise<ClientStream[]> {
  const streams: ClientStream[] = [];
  for (const streamType of types) streams.push(await client.open({ streamType }));
  return streams;
}

test('input, outputs and the status go each on their own stream', async () => {
  await using at = await setUp();
  const client = await at.connect('/exec?command=sh&input=1&output=1&error=1');
  const [error, stdin, stdout, stderr] = await open(client, 'error', 'stdin', 'stdout', 'stderr');
  const texts = Promise.all([error!.text(), stdout!.text(), stderr!.text()]);
  const session = await at.session;
  stdin!.end('typed');
  assert.equal(String(await session.stdin!.toArray()), 'typed');
  session.stdout!.write('out');
  session.stderr!.write('err');
  session.exit(0);
  assert.deepEqual(await texts, ['{"metadata":{},"status":"Success"}', 'out', 'err']);
  await client.close();
});

const failed = 'command terminated with non-zero exit code: Error executing in Docker Container: 3';
const outcomes: readonly {
  readonly name: string;
  readonly protocol: string;
  readonly end: (session: FakeSession) => void;
  readonly says: string;
}[] = [
  {
    name: 'an exit code is a cause in v4',
    protocol: V4,
    end: (session) => session.exit(3),
    says: `{"metadata":{},"status":"Failure","message":"${failed}","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}`,
  },
  ...['v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'].flatMap((protocol) => [
    { name: `an exit code is a text in ${protocol}`, protocol, end: (session: FakeSession) => session.exit(3), says: failed },
    { name: `success is silence in ${protocol}`, protocol, end: (session: FakeSession) => session.exit(0), says: '' },
  ]),
  {
    name: 'a broken engine connection is an internal error',
    protocol: V4,
    end: (session) => session.break(new Error('engine gone')),
    says: '{"metadata":{},"status":"Failure","message":"Internal error occurred: error executing command in container: engine gone","reason":"InternalError","details":{"causes":[{"message":"error executing command in container: engine gone"}]},"code":500}',
  },
];
for (const { name, protocol, end, says } of outcomes) {
  test(name, async () => {
    await using at = await setUp();
    const client = await at.connect('/exec?output=1', protocol);
    const [error, stdout] = await open(client, 'error', 'stdout');
    const texts = Promise.all([error!.text(), stdout!.text()]);
    end(await at.session);
    assert.deepEqual(await texts, [says, '']);
    await client.close();
  });
}

test('what cannot be opened is told after the upgrade, on the error stream', async () => {
  await using at = await setUp({ refuse: new Error('container not running (abc)'), serve: serveAttach });
  const client = await at.connect('/attach?output=1');
  const [error, stdout] = await open(client, 'error', 'stdout');
  const status = JSON.parse(await error!.text()) as { message: string };
  assert.equal(status.message, 'Internal error occurred: error attaching to container: container not running (abc)');
  assert.equal(await stdout!.text(), '');
  await client.closed;
});

test('attach ends with success whatever the process ended with', async () => {
  await using at = await setUp({ serve: serveAttach });
  const client = await at.connect('/attach?output=1');
  const [error] = await open(client, 'error', 'stdout');
  (await at.session).exit(137);
  assert.equal(await error!.text(), '{"metadata":{},"status":"Success"}');
  await client.close();
});

test('sizes of the terminal come through, cut anywhere, those without extent aside', async () => {
  await using at = await setUp();
  const client = await at.connect('/exec?output=1&error=1&input=1&tty=1');
  const [error, , , resize] = await open(client, 'error', 'stdin', 'stdout', 'resize');
  const session = await at.session;
  assert.equal(session.stderr, undefined, 'a terminal has one output');
  resize!.write('{"Width":80,"Hei');
  resize!.write('ght":24}\n{"Width":0,"Height":1}');
  while (session.sizes.length < 1) await new Promise((done) => setImmediate(done));
  resize!.write('{"Width":100,"Height":50}');
  while (session.sizes.length < 2) await new Promise((done) => setImmediate(done));
  assert.deepEqual(session.sizes, [
    { width: 80, height: 24 },
    { width: 100, height: 50 },
  ]);
  session.exit(0);
  await error!.text();
  await client.close();
});

test('a process that no longer reads its input holds up nothing', async () => {
  await using at = await setUp();
  const client = await at.connect('/exec?output=1&input=1');
  const [error, stdin, stdout] = await open(client, 'error', 'stdin', 'stdout');
  const texts = Promise.all([error!.text(), stdout!.text()]);
  const session = await at.session;
  session.stdin!.destroy(new Error('EPIPE'));
  for (let i = 0; i < 100; i++) stdin!.write(Buffer.alloc(64 * 1024));
  session.stdout!.write('still here');
  session.exit(0);
  assert.deepEqual(await texts, ['{"metadata":{},"status":"Success"}', 'still here']);
  await client.close();
});

test('a client that resets an output lets the process go on', async () => {
  await using at = await setUp();
  const client = await at.connect('/exec?output=1');
  const [error, stdout] = await open(client, 'error', 'stdout');
  const session = await at.session;
  stdout!.reset();
  for (let i = 0; i < 50; i++) if (!session.stdout!.write(Buffer.alloc(64 * 1024))) await once(session.stdout!, 'drain');
  session.exit(0);
  assert.equal(await error!.text(), '{"metadata":{},"status":"Success"}');
  await client.close();
});

test('a client that leaves ends the session', async (t) => {
  const ways: Record<string, (client: SpdyClient) => unknown> = {
    'with a goodbye': (client) => client.close(),
    'without one': (client) => client.socket.destroy(),
  };
  for (const [name, leave] of Object.entries(ways)) {
    await t.test(name, async () => {
      await using at = await setUp();
      const client = await at.connect('/exec?output=1');
      await open(client, 'error', 'stdout');
      const session = await at.session;
      assert.equal(session.signal.aborted, false);
      leave(client);
      if (!session.signal.aborted) await once(session.signal, 'abort');
      session.break(new Error('aborted'));
      await Promise.all(at.server.sessions);
      assert.equal(session.signal.aborted, true);
    });
  }
});

test('a server that stops ends the sessions, those that have not begun too', async () => {
  const stop = new AbortController();
  await using at = await setUp({ stop: stop.signal });
  const begun = await at.connect('/exec?output=1');
  await open(begun, 'error', 'stdout');
  const session = await at.session;
  const waiting = await at.connect('/exec?output=1');
  stop.abort(new Error('stopping'));
  await Promise.all([begun.closed, waiting.closed]);
  assert.equal(session.signal.aborted, true);
  assert.deepEqual([begun.goAway?.status, waiting.goAway?.status], [0, 0]);
});

test('a client that creates too few streams is told so after 30 s', async () => {
  await using at = await setUp();
  const client = await at.connect('/exec?output=1&input=1');
  const [error, stdout] = await open(client, 'error', 'stdout');
  const texts = Promise.all([error!.text(), stdout!.text()]);
  await at.clock.advance(29_999);
  assert.equal(client.socket.destroyed, false);
  await at.clock.advance(1);
  assert.deepEqual(await texts, ['timed out waiting for client to create streams', '']);
  await client.closed;
});

test('a session on which nothing happens ends after the idle timeout', async () => {
  await using at = await setUp();
  const client = await at.connect('/exec?output=1');
  const [, stdout] = await open(client, 'error', 'stdout');
  const session = await at.session;
  await at.clock.advance(IDLE_MS - 1);
  session.stdout!.write('a sign of life');
  await once(stdout!, 'data');
  await at.clock.advance(IDLE_MS - 1);
  assert.equal(session.signal.aborted, false);
  await at.clock.advance(1);
  assert.equal(session.signal.aborted, true);
  assert.match(String(session.signal.reason), /idle/);
  await client.closed;
  assert.deepEqual(client.goAway, { lastStreamId: 3, status: 0 });
});

test('streams of unknown types and second ones are refused, those not asked for end at once', async () => {
  await using at = await setUp();
  const client = await at.connect('/exec?output=1');
  await open(client, 'error');
  await assert.rejects(client.open({ streamType: 'video' }), /reset with status 3/);
  await assert.rejects(client.open({ streamType: 'error' }), /reset with status 3/);
  const [stderr] = await open(client, 'stderr');
  assert.equal(await stderr!.text(), '');
  await open(client, 'stdout');
  (await at.session).exit(0);
  await client.close();
});

const refusals: readonly {
  readonly name: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers: Record<string, string | string[]>;
  readonly status: number;
  readonly body: RegExp;
}[] = [
  {
    name: 'no protocol',
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
    status: 400,
    body: /^unable to upgrade: X-Stream-Protocol-Version is required$/,
  },
  {
    name: 'an unknown protocol',
    headers: spdyHeaders('v9.channel.k8s.io', 'v8'),
    status: 403,
    body: /^unable to upgrade: unable to negotiate protocol: client supports \[v9.channel.k8s.io v8\], server accepts \[v4.channel.k8s.io v3.channel.k8s.io v2.channel.k8s.io channel.k8s.io\]\n$/,
  },
  {
    name: 'another upgrade',
    headers: { ...spdyHeaders(V4), upgrade: 'h2c' },
    status: 400,
    body: /^unable to upgrade: missing upgrade headers in request: /,
  },
  {
    name: 'no streams',
    path: '/exec?tty=1',
    headers: spdyHeaders(V4),
    status: 400,
    body: /^you must specify at least 1 of stdin, stdout, stderr$/,
  },
  { name: 'HEAD', method: 'HEAD', headers: spdyHeaders(V4), status: 405, body: /^$/ },
  { name: 'PUT', method: 'PUT', headers: spdyHeaders(V4), status: 405, body: /^method not allowed$/ },
];
for (const { name, path = '/exec?output=1', method = 'POST', headers, status, body } of refusals) {
  test(`${name}: HTTP ${status}`, async () => {
    await using at = await setUp();
    const answer = await upgrade({ port: at.server.port, path, method, headers });
    assert.equal(answer.status, status);
    assert.match(answer.body, body);
    if (status === 403)
      assert.equal(
        answer.headers['x-accepted-stream-protocol-versions'],
        'v4.channel.k8s.io, v3.channel.k8s.io, v2.channel.k8s.io, channel.k8s.io',
      );
  });
}

test("the first of the client's protocols that is known is taken", async () => {
  await using at = await setUp();
  const answer = await upgrade({
    port: at.server.port,
    path: '/exec?output=1',
    headers: spdyHeaders('v9', 'v2.channel.k8s.io, v4.channel.k8s.io'),
  });
  assert.equal(answer.status, 101);
  assert.equal(answer.headers['x-stream-protocol-version'], 'v2.channel.k8s.io');
  answer.socket!.destroy();
});

test('a slow reader slows the process down, and gets everything', async () => {
  await using at = await setUp();
  const client = await at.connect('/exec?output=1');
  const [error, stdout] = await open(client, 'error', 'stdout');
  const session = await at.session;
  const piece = Buffer.alloc(64 * 1024, 'x');
  let written = 0;
  let full = false;
  // The client reads nothing: what is in between fills up, and then no more is taken.
  while (!full && written < 200) {
    written++;
    if (session.stdout!.write(piece)) continue;
    full = !(await Promise.race([
      once(session.stdout!, 'drain').then(() => true),
      new Promise<boolean>((done) => setTimeout(done, 300, false)),
    ]));
  }
  assert.equal(full, true, 'the process is held up');
  session.exit(0);
  let read = 0;
  stdout!.on('data', (bytes: Buffer) => (read += bytes.length));
  assert.equal(await error!.text(), '{"metadata":{},"status":"Success"}');
  if (!stdout!.readableEnded) await once(stdout!, 'end');
  assert.equal(read, written * piece.length);
  await client.close();
});
