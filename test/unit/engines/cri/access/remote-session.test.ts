import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { controlFrame, dataFrameHead, FrameType, goAwayFrame, synReplyFrame } from '../../../../../src/base/spdy/spdy-frame.ts';
import { HeaderPacker } from '../../../../../src/base/spdy/spdy-header-block.ts';
import { remoteSession } from '../../../../../src/engines/cri/access/remote-session.ts';
import type { StreamsWanted } from '../../../../../src/ports/container-access.ts';
import { execServer, type ExecServerOptions } from '../../../../builders/an-exec-server.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';

const ALL: StreamsWanted = { stdin: true, stdout: true, stderr: true, tty: false };
const TIMEOUT_MS = 30_000;

function query({ stdin, stdout, stderr, tty }: StreamsWanted): string {
  return Object.entries({ input: stdin, output: stdout, error: stderr, tty })
    .flatMap(([name, wanted]) => (wanted ? [`${name}=1`] : []))
    .join('&');
}

/** A session with the node's own server, whose process the test plays. */
async function setUp(wanted: StreamsWanted = ALL, options: Partial<ExecServerOptions> = {}) {
  const served = await execServer({ idleTimeoutMs: 3_600_000, ...options });
  const clock = new FakeClock();
  const gone = new AbortController();
  const url = `http://127.0.0.1:${served.server.port}/exec?command=sh&${query(wanted)}`;
  return {
    gone,
    process: served.session,
    open: () => remoteSession(url, wanted, { timeoutMs: TIMEOUT_MS, clock }, gone.signal),
    async [Symbol.asyncDispose]() {
      gone.abort(new Error('the test is over'));
      await served[Symbol.asyncDispose]();
    },
  };
}

test('input, outputs and the exit code arrive', async () => {
  await using at = await setUp();
  const session = await at.open();
  const process = await at.process;
  session.stdin!.end('typed');
  assert.equal(String(Buffer.concat(await process.stdin!.toArray())), 'typed');
  process.stdout!.write('out');
  process.stderr!.write('err');
  const texts = Promise.all([text(session.stdout!), text(session.stderr!)]);
  process.exit(3);
  assert.deepEqual(await session.ended, { kind: 'exited', exitCode: 3 });
  assert.deepEqual(await texts, ['out', 'err']);
});

test('what was not read when the command ended may still be read, more than one buffer of it', async () => {
  await using at = await setUp({ ...ALL, stdin: false });
  const session = await at.open();
  const process = await at.process;
  const megabyte = Buffer.alloc(1 << 20, 'x');
  process.stdout!.write(megabyte);
  process.exit(0);
  // The status waits behind it.
  const read = Buffer.concat(await session.stdout!.toArray());
  assert.equal(read.length, megabyte.length);
  assert.deepEqual(await session.ended, { kind: 'exited', exitCode: 0 });
  assert.equal(await text(session.stderr!), '');
});

test('much input waits for the process that reads it, and arrives whole', async () => {
  await using at = await setUp();
  const session = await at.open();
  const process = await at.process;
  const bytes = 8 << 20;
  const fed = Readable.from(
    (function* () {
      for (let sent = 0; sent < bytes; sent += 1 << 16) yield Buffer.alloc(1 << 16, sent >> 16);
    })(),
  );
  let given = 0;
  fed.on('data', (part: Buffer) => (given += part.length));
  fed.pipe(session.stdin!);
  await once(process.stdin!, 'readable');
  // Nobody reads: what is on its way is bounded by the buffers between, sockets' among them.
  assert.ok(given < bytes, 'the feeder was made to wait');
  const received = Buffer.concat(await process.stdin!.toArray());
  assert.equal(received.length, bytes);
  assert.equal(received.at(-1), ((bytes >> 16) - 1) & 0xff);
  process.exit(0);
  await session.ended;
});

test('sizes of the terminal arrive in their order, and are without effect afterwards', async () => {
  await using at = await setUp({ stdin: true, stdout: true, stderr: false, tty: true });
  const session = await at.open();
  const process = await at.process;
  await session.resize({ width: 80, height: 24 });
  process.stdout!.write('a');
  await once(session.stdout!, 'readable');
  while (process.sizes.length < 1) await new Promise((done) => setImmediate(done));
  assert.deepEqual(process.sizes, [{ width: 80, height: 24 }]);
  process.exit(0);
  await session.ended;
  await session.resize({ width: 100, height: 30 });
});

test('a process that ended closes its input without an error', async () => {
  await using at = await setUp();
  const session = await at.open();
  const process = await at.process;
  session.stdin!.write('never read');
  const closed = once(session.stdin!, 'close');
  process.exit(0);
  await closed;
  assert.deepEqual(await session.ended, { kind: 'exited', exitCode: 0 });
});

test('an abort ends both sides with its reason', async () => {
  await using at = await setUp();
  const session = await at.open();
  const process = await at.process;
  const closed = [session.stdin, session.stdout, session.stderr].map((stream) => new Promise((done) => stream!.once('close', done)));
  const reason = new Error('the client has gone');
  at.gone.abort(reason);
  await assert.rejects(session.ended, (error) => error === reason);
  await Promise.all(closed);
  if (!process.signal.aborted) await once(process.signal, 'abort');
});

test('a command that could not be run ends in the words of the runtime', async () => {
  await using at = await setUp(ALL, { refuse: new Error('no such command') });
  const session = await at.open();
  const outcome = await session.ended;
  assert.equal(outcome.kind, 'failed');
  assert.match(outcome.kind === 'failed' ? outcome.message : '', /no such command/);
});

test('a runtime that is stopped in the middle breaks the session, in words', async () => {
  const stop = new AbortController();
  await using at = await setUp(ALL, { stop: stop.signal });
  const session = await at.open();
  await at.process;
  stop.abort(new Error('stopped'));
  await assert.rejects(session.ended, /the connection to the container broke|stopped/);
});

/** A peer that says what it likes. */
async function peer(onSocket: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clock = new FakeClock();
  const stop = new AbortController();
  return {
    clock,
    open: (wanted = ALL) => remoteSession(`http://127.0.0.1:${port}/exec/token`, wanted, { timeoutMs: TIMEOUT_MS, clock }, stop.signal),
    host: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'));
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

const UPGRADED =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n';
/** Upgrades, answers for the five streams that may come, and goes on with `said`. */
const upgraded =
  (...said: readonly (Buffer | string)[]) =>
  (socket: Socket): void =>
    void socket.once('data', () => {
      const packer = new HeaderPacker();
      socket.write(UPGRADED);
      socket.once('data', () => {
        for (const id of [1, 3, 5, 7, 9]) socket.write(synReplyFrame(id, packer.encode(new Map())));
        for (const bytes of said) socket.write(bytes);
      });
    });
const answers =
  (response: string) =>
  (socket: Socket): void =>
    void socket.once('data', () => socket.write(response));
const status = (text: string): Buffer => Buffer.concat([dataFrameHead(1, Buffer.byteLength(text), true), Buffer.from(text)]);

for (const { what, does, says } of [
  {
    what: 'refuses',
    does: answers('HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nno id'),
    says: /streaming server at 127.0.0.1:\d+ cannot be used: HTTP 404: no id$/,
  },
  { what: 'refuses without a word', does: answers('HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n'), says: /HTTP 500: without a word$/ },
  {
    what: 'refuses with more words than anybody reads',
    does: (socket: Socket) => socket.write(`HTTP/1.1 500 X\r\nContent-Length: 9000000\r\n\r\n${'x'.repeat(100_000)}`),
    says: /HTTP 500: x{1024}$/,
  },
  {
    what: 'goes on with another protocol',
    does: answers('HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    says: /it went on with "websocket", not with SPDY\/3.1$/,
  },
  {
    what: 'goes on with another version',
    does: answers('HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v1\r\n\r\n'),
    says: /it speaks "v1", not v4.channel.k8s.io$/,
  },
  { what: 'speaks no HTTP', does: (socket: Socket) => socket.write('SSH-2.0-x\r\n\r\n'), says: /cannot be used: Parse Error/ },
  { what: 'hangs up at once', does: (socket: Socket) => socket.end(), says: /cannot be used: socket hang up/ },
  {
    what: 'hangs up before the streams are open',
    does: answers(UPGRADED + '\0'),
    says: undefined,
  },
] as const)
  test(`a streaming server that ${what} is named`, async () => {
    await using at = await peer((socket) => {
      does(socket);
      if (what.startsWith('hangs up before')) socket.once('data', () => socket.end());
    });
    await assert.rejects(at.open(), says === undefined ? /connection closed/ : { message: says });
  });

test('a streaming server that does not answer is given up after its time', async () => {
  const asked = Promise.withResolvers<void>();
  await using at = await peer((socket) => void socket.once('data', () => asked.resolve()));
  const opened = at.open();
  await asked.promise;
  at.clock.advance(TIMEOUT_MS);
  await assert.rejects(opened, { message: `the answer of the runtime's streaming server at ${at.host} took longer than 30 s` });
});

test('one that opens no streams, too', async () => {
  const upgradedNow = Promise.withResolvers<void>();
  await using at = await peer(
    (socket) =>
      void socket.once('data', () => {
        socket.write(UPGRADED);
        socket.once('data', () => upgradedNow.resolve());
      }),
  );
  const opened = at.open();
  await upgradedNow.promise;
  at.clock.advance(TIMEOUT_MS);
  await assert.rejects(opened, { message: "the opening of a command's streams by the runtime took longer than 30 s" });
});

for (const { what, answers: said, says } of [
  { what: 'no JSON', answers: [status('what?')], says: /is no JSON object: "what\?"$/ },
  { what: 'a list', answers: [status('[]')], says: /is no JSON object: "\[\]"$/ },
  { what: 'neither success nor failure', answers: [status('{"status":"Maybe"}')], says: /is neither Success nor Failure/ },
  {
    what: 'a failure without its exit code',
    answers: [status('{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"-1"}]}}')],
    says: /has no exit code/,
  },
  {
    what: 'nothing',
    answers: [dataFrameHead(1, 0, true)],
    says: /the connection to the container broke: .* ended the session without saying how$/,
  },
  { what: 'goodbye', answers: [goAwayFrame(9, 0)], says: /the connection to the container broke: the server has gone away$/ },
  { what: 'too much', answers: [dataFrameHead(1, 70_000, false), Buffer.alloc(70_000, 'x')], says: /has more than 65536 bytes/ },
  {
    what: 'a reset',
    answers: [controlFrame(FrameType.RST_STREAM, 0, Buffer.of(0, 0, 0, 1, 0, 0, 0, 5))],
    says: /the connection to the container broke/,
  },
  { what: 'garbage', answers: ['\xff'.repeat(100)], says: /the connection to the container broke: SPDY version/ },
])
  test(`a status that is ${what} breaks the session`, async () => {
    await using at = await peer(upgraded(...said));
    const session = await at.open();
    await assert.rejects(session.ended, { message: says });
    assert.ok(session.stdout!.destroyed);
  });

test('streams that the server refuses are named', async () => {
  await using at = await peer(
    (socket) =>
      void socket.once('data', () => {
        socket.write(UPGRADED);
        socket.once('data', () => socket.write(controlFrame(FrameType.RST_STREAM, 0, Buffer.of(0, 0, 0, 3, 0, 0, 0, 3))));
      }),
  );
  await assert.rejects(at.open(), { message: 'the server reset the stream: refused' });
});

test('a streaming URL of another kind is not dialled', async () => {
  const clock = new FakeClock();
  const opened = remoteSession('https://10.0.0.1:10010/exec/t', ALL, { timeoutMs: TIMEOUT_MS, clock }, new AbortController().signal);
  await assert.rejects(opened, { message: /at 10.0.0.1:10010 wants https: only http is spoken/ });
});
