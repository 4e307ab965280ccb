import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { silentLogger } from '../../../../src/base/logger.ts';
import { servePortForward } from '../../../../src/server/streaming/serve-port-forward.ts';
import { StreamingServer } from '../../../builders/a-streaming-server.ts';
import { type ClientStream, SpdyClient } from '../../../builders/spdy-client.ts';
import { connectSpdy, spdyHeaders, upgrade } from '../../../builders/upgrade.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const PROTOCOL = 'portforward.k8s.io';

/** Forwards to a server in this process; port 81 is closed. */
async function setUp(serve: (socket: Socket) => void = (socket) => socket.pipe(socket)) {
  const clock = new FakeClock();
  const app: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    serve(socket);
  });
  app.listen(0, '127.0.0.1');
  await once(app, 'listening');
  const appPort = (app.address() as AddressInfo).port;
  const dialled: Duplex[] = [];
  const server = await StreamingServer.start((request, socket, head) =>
    servePortForward(request, socket, head, {
      pod: 'sandbox1',
      dial: async (port) => {
        if (port === 81) throw new Error('connect ECONNREFUSED 127.0.0.1:81');
        const connection = connect({ port: appPort, host: '127.0.0.1', allowHalfOpen: true });
        await once(connection, 'connect');
        dialled.push(connection);
        return connection;
      },
      idleTimeoutMs: 3_600_000,
      streamCreationTimeoutMs: 30_000,
      clock,
      log: silentLogger,
    }),
  );
  return {
    clock,
    server,
    dialled,
    connect: () => connectSpdy({ port: server.port, path: '/portForward/ns/pod' }, [PROTOCOL]),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      for (const connection of dialled) if (!connection.closed) await once(connection, 'close');
      await new Promise((done) => app.close(done));
      assert.equal(clock.actions.length, 0, 'no timer is left');
    },
  };
}

async function forward(
  client: SpdyClient,
  port: number,
  requestId: string | undefined = '0',
): Promise<{ error: ClientStream; data: ClientStream }> {
  const headers = { port: String(port), ...(requestId === undefined ? {} : { requestID: requestId }) };
  const error = await client.open({ streamType: 'error', ...headers });
  error.end();
  return { error, data: await client.open({ streamType: 'data', ...headers }) };
}

test('a hundred connections at a time keep apart', async () => {
  await using at = await setUp();
  const client = await at.connect();
  await Promise.all(
    Array.from({ length: 120 }, async (_, index) => {
      const { error, data } = await forward(client, 80, String(index));
      const text = `connection ${index} `.repeat(5_000);
      data.end(text);
      assert.equal(await data.text(), text);
      assert.equal(await error.text(), '');
    }),
  );
  await client.close();
});

test('clients that send no request ids open the error stream first', async () => {
  await using at = await setUp();
  const client = await at.connect();
  const { data } = await forward(client, 80, undefined);
  data.end('old');
  assert.equal(await data.text(), 'old');
  await client.close();
});

test('a port that refuses is told on the error stream', async () => {
  await using at = await setUp();
  const client = await at.connect();
  const { error, data } = await forward(client, 81);
  assert.equal(await error.text(), 'error forwarding port 81 to pod sandbox1, uid : connect ECONNREFUSED 127.0.0.1:81');
  assert.equal(await data.text(), '');
  const other = await forward(client, 80, '1');
  other.data.end('the connection goes on');
  assert.equal(await other.data.text(), 'the connection goes on');
  await client.close();
});

test('what the pod sends after our half has closed arrives', async () => {
  await using at = await setUp((socket) => {
    let got = '';
    socket.on('data', (bytes) => (got += String(bytes)));
    socket.on('end', () => socket.end(`answer to ${got}`));
  });
  const client = await at.connect();
  const { data } = await forward(client, 80);
  data.end('a request');
  assert.equal(await data.text(), 'answer to a request');
  await client.close();
});

test('a pod that closes first ends both streams, and a client that does not follow is cut off', async () => {
  await using at = await setUp((socket) => socket.end('bye'));
  const client = await at.connect();
  const { error, data } = await forward(client, 80);
  assert.equal(await data.text(), 'bye');
  assert.equal(await error.text(), '');
  assert.equal(data.resetWith, undefined);
  await at.clock.advance(10_000);
  while (data.resetWith === undefined) await new Promise((done) => setImmediate(done));
  await client.close();
});

test('a connection that the pod resets is reset, without ending the others', async () => {
  await using at = await setUp((socket) => socket.once('data', () => socket.resetAndDestroy()));
  const client = await at.connect();
  const { error, data } = await forward(client, 80);
  data.write('x');
  await data.text();
  assert.equal(data.resetWith, 5);
  assert.equal(await error.text(), '');
  assert.equal(client.socket.destroyed, false);
  await client.close();
});

test('a client that resets its stream closes the connection to the pod', async () => {
  await using at = await setUp();
  const client = await at.connect();
  const { data } = await forward(client, 80);
  data.write('x');
  await once(data, 'data');
  data.reset();
  if (!at.dialled[0]!.closed) await once(at.dialled[0]!, 'close');
  assert.equal(client.socket.destroyed, false);
  await client.close();
});

const bad: readonly [string, Record<string, string>][] = [
  ['no port', { streamType: 'data' }],
  ['port 0', { streamType: 'data', port: '0' }],
  ['a port of six digits', { streamType: 'data', port: '655360' }],
  ['no number', { streamType: 'data', port: 'http' }],
  ['no type', { port: '80' }],
  ['an unknown type', { streamType: 'stdin', port: '80' }],
];
for (const [name, headers] of bad) {
  test(`a stream with ${name} is reset`, async () => {
    await using at = await setUp();
    const client = await at.connect();
    await assert.rejects(client.open({ requestID: '1', ...headers }), /reset/);
    await client.close();
  });
}

test('a stream that stays alone is told so after 30 s; a second of its kind is refused', async () => {
  await using at = await setUp();
  const client = await at.connect();
  const error = await client.open({ streamType: 'error', port: '80', requestID: '7' });
  const second = await client.start({ streamType: 'error', port: '80', requestID: '7' });
  await second.text();
  assert.equal(second.resetWith, 5);
  const alone = await client.open({ streamType: 'data', port: '80', requestID: '8' });
  await at.clock.advance(30_000);
  assert.equal(
    await error.text(),
    'error processing stream for request 7: error stream already assigned(request=7) timed out waiting for streams',
  );
  await alone.text();
  assert.equal(alone.resetWith, 5);
  await client.close();
});

test('an unknown protocol: HTTP 403', async () => {
  await using at = await setUp();
  const answer = await upgrade({ port: at.server.port, path: '/', headers: spdyHeaders('x') });
  assert.equal(answer.status, 403);
  assert.equal(answer.body, 'unable to upgrade: unable to negotiate protocol: client supports [x], server accepts [portforward.k8s.io]\n');
});

/** Messages of one channel, joined. */
function messages(webSocket: WebSocket): Map<number, Buffer> {
  const seen = new Map<number, Buffer>();
  webSocket.on('message', (data: Buffer) => seen.set(data[0]!, Buffer.concat([seen.get(data[0]!) ?? Buffer.alloc(0), data.subarray(1)])));
  return seen;
}

test('over WebSocket, each port has its channels, which begin with its number', async () => {
  await using at = await setUp();
  const webSocket = new WebSocket(`ws://127.0.0.1:${at.server.port}/?port=80,8080&port=81`, ['v4.channel.k8s.io']);
  const seen = messages(webSocket);
  await once(webSocket, 'open');
  webSocket.send(Buffer.from([2, ...Buffer.from('hello')]));
  while ((seen.get(2)?.length ?? 0) < 7 || (seen.get(5)?.length ?? 0) < 4) await once(webSocket, 'message');
  assert.deepEqual(seen.get(0), Buffer.of(80, 0));
  assert.deepEqual(seen.get(1), Buffer.of(80, 0));
  assert.deepEqual(seen.get(2), Buffer.concat([Buffer.of(0x90, 0x1f), Buffer.from('hello')]));
  assert.deepEqual(seen.get(3), Buffer.of(0x90, 0x1f));
  assert.equal(seen.get(5)!.toString('latin1', 2), 'error forwarding port 81 to pod sandbox1, uid : connect ECONNREFUSED 127.0.0.1:81');
  webSocket.close();
  await once(webSocket, 'close');
});

test('over WebSocket, the connection ends with its last port', async () => {
  await using at = await setUp((socket) => socket.end('bye'));
  const webSocket = new WebSocket(`ws://127.0.0.1:${at.server.port}/?port=80`);
  const seen = messages(webSocket);
  const [code] = (await once(webSocket, 'close')) as [number];
  assert.equal(code, 1000);
  assert.equal(seen.get(0)!.toString('latin1', 2), 'bye');
});

const portQueries: readonly [string, number, string][] = [
  ['', 400, 'query parameter "port" is required'],
  ['?port=', 400, 'query parameter "port" cannot be empty'],
  ['?port=80,x', 400, 'unable to parse "80,x" as a port'],
  ['?port=0', 400, 'port "0" must be > 0'],
];
for (const [query, status, body] of portQueries) {
  test(`over WebSocket, "${query}" is HTTP ${status}`, async () => {
    await using at = await setUp();
    const answer = await upgrade({ port: at.server.port, path: `/${query}`, headers: { connection: 'upgrade', upgrade: 'websocket' } });
    assert.deepEqual([answer.status, answer.body], [status, body]);
  });
}

test('SPDY may come in a WebSocket', async () => {
  await using at = await setUp();
  const protocol = 'SPDY/3.1+portforward.k8s.io';
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const answer = await upgrade({ port: at.server.port, path: '/', headers: { ...headers, 'sec-websocket-protocol': protocol } });
  assert.equal(answer.headers['sec-websocket-protocol'], protocol);
  const client = new SpdyClient(tunnel(answer.socket!));
  const text = 'tunnelled '.repeat(50_000);
  await Promise.all(
    ['0', '1', '2'].map(async (id) => {
      const { error, data } = await forward(client, 80, id);
      data.end(text);
      assert.equal(await data.text(), text);
      assert.equal(await error.text(), '');
    }),
  );
  await client.close();
});

/** What is written goes as binary messages, what comes as such is read. The first close ends it. */
function tunnel(socket: Duplex): Duplex {
  let arrived = Buffer.alloc(0);
  const end = new Duplex({
    read: () => {},
    write: (bytes: Buffer, _encoding, done) => {
      const head = Buffer.alloc(14);
      head.writeUInt16BE(0x82ff, 0);
      head.writeUInt32BE(bytes.length, 6);
      socket.write(Buffer.concat([head, bytes]));
      done();
    },
    final: (done) => {
      socket.end(Buffer.of(0x88, 0x80, 0, 0, 0, 0));
      done();
    },
  });
  socket.on('data', (chunk: Buffer) => {
    arrived = Buffer.concat([arrived, chunk]);
    for (;;) {
      const short = (arrived[1] ?? 0) & 0x7f;
      const headLength = short === 127 ? 10 : short === 126 ? 4 : 2;
      if (arrived.length < headLength) return;
      const length = short === 127 ? arrived.readUInt32BE(6) : short === 126 ? arrived.readUInt16BE(2) : short;
      if (arrived.length < headLength + length) return;
      if ((arrived[0]! & 0x0f) === 8) end.push(null);
      else end.push(arrived.subarray(headLength, headLength + length));
      arrived = arrived.subarray(headLength + length);
    }
  });
  socket.on('close', () => end.destroy());
  return end;
}
