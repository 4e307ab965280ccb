import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttp2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '../../../../src/base/clock.ts';
import { GrpcChannel } from '../../../../src/base/grpc/grpc-channel.ts';
import { GrpcError } from '../../../../src/base/grpc/grpc-error.ts';
import { grpcFrame } from '../../../../src/base/grpc/grpc-frame.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const never = new AbortController().signal;
const METHOD = '/a.Service/Ask';
const MAX_BYTES = 1000;
const text = (message: Uint8Array): string => Buffer.from(message).toString();

let directory: string;
let socketPath: string;
const ends: (() => void)[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grpc-'));
  socketPath = join(directory, 'socket');
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  rmSync(directory, { recursive: true, force: true });
});

async function listen(server: Server): Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(socketPath);
  await once(server, 'listening');
  ends.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
}

/** A gRPC server that answers each call as `answer` does, once it has the whole question. */
async function serve(answer: (stream: ServerHttp2Stream, asked: string, session: ServerHttp2Session) => void): Promise<{ calls: number }> {
  const seen = { calls: 0 };
  const server = createHttp2Server();
  server.on('sessionError', () => {});
  server.on('stream', (stream: ServerHttp2Stream) => {
    seen.calls++;
    stream.on('error', () => {});
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => stream.session && answer(stream, text(Buffer.concat(chunks).subarray(5)), stream.session as ServerHttp2Session));
  });
  await listen(server);
  return seen;
}

const OK = { ':status': 200, 'content-type': 'application/grpc' } as const;

function finish(
  stream: ServerHttp2Stream,
  frames: readonly Uint8Array[],
  trailers: Readonly<Record<string, string>> = { 'grpc-status': '0' },
): void {
  stream.respond(OK, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  for (const frame of frames) stream.write(frame);
  stream.end();
}

function channel(clock: Pick<typeof systemClock, 'monotonicMs' | 'schedule'> = systemClock): GrpcChannel {
  const made = new GrpcChannel({ target: { socketPath }, clock, userAgent: 'test', maxMessageBytes: MAX_BYTES, random: () => 0 });
  ends.push(() => made.close());
  return made;
}

const ask = async (asked = 'q', { timeoutMs = 10_000, over = channel(), signal = never } = {}): Promise<string> =>
  text(await over.unary(METHOD, Buffer.from(asked), { timeoutMs }, signal));

async function failing(work: Promise<unknown>): Promise<GrpcError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GrpcError, `${String(error)} is no GrpcError`);
  return error;
}

describe('a gRPC call', () => {
  test('has the answer, whatever chunks it comes in', async () => {
    await serve((stream, asked) => {
      const frame = grpcFrame(Buffer.from(`answer to ${asked}`));
      finish(
        stream,
        [...frame].map((byte) => Buffer.of(byte)),
      );
    });
    assert.equal(await ask('hello'), 'answer to hello');
  });

  test('shares one connection with others', async () => {
    const sessions = new Set<unknown>();
    await serve((stream, asked, session) => {
      sessions.add(session);
      finish(stream, [grpcFrame(Buffer.from(asked))]);
    });
    const over = channel();
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((each) => ask(each, { over }))), ['a', 'b', 'c']);
    assert.equal(sessions.size, 1);
  });

  test('sends what it is, and its deadline', async () => {
    const headers = new Promise((resolve) => {
      const server = createHttp2Server();
      server.on('stream', (stream: ServerHttp2Stream, sent) => {
        resolve(sent);
        stream.respond({ ...OK, 'grpc-status': 0 }, { endStream: true });
      });
      void listen(server);
    });
    await failing(ask('q', { timeoutMs: 1500 }));
    const {
      ':path': path,
      te,
      'content-type': type,
      'grpc-timeout': timeout,
      'user-agent': agent,
    } = (await headers) as Record<string, string>;
    assert.deepEqual([path, te, type, timeout, agent], [METHOD, 'trailers', 'application/grpc', '1500m', 'test']);
  });

  test('fails as the server says, its words unescaped', async () => {
    await serve((stream) =>
      stream.respond({ ...OK, 'grpc-status': 9, 'grpc-message': 'name %22a%22 is taken%3A 100%' }, { endStream: true }),
    );
    const { code, details, message } = await failing(ask());
    assert.deepEqual([code, details], ['FailedPrecondition', 'name "a" is taken: 100%']);
    assert.equal(message, 'Ask: rpc error: code = FailedPrecondition desc = name "a" is taken: 100%');
  });

  test('fails as the server says after a message, too', async () => {
    await serve((stream) => finish(stream, [grpcFrame(Buffer.from('half'))], { 'grpc-status': '13', 'grpc-message': 'lost the rest' }));
    assert.deepEqual((await failing(ask())).details, 'lost the rest');
  });

  test('keeps a status that gRPC does not have', async () => {
    await serve((stream) => stream.respond({ ...OK, 'grpc-status': 99 }, { endStream: true }));
    assert.equal((await failing(ask())).code, 'Code(99)');
  });

  test('takes no longer than its deadline, and ends at the server, too', async () => {
    const cancelled = new Promise<number>((resolve) => {
      void serve((stream) => stream.once('close', () => resolve(stream.rstCode)));
    });
    const { code, connected } = await failing(ask('q', { timeoutMs: 300 }));
    assert.deepEqual([code, connected], ['DeadlineExceeded', true]);
    assert.equal(await cancelled, 8);
  });

  test('ends with the reason of its signal', async () => {
    const aborting = new AbortController();
    await serve(() => aborting.abort(new Error('enough')));
    await assert.rejects(ask('q', { signal: aborting.signal }), /^Error: enough$/);
    await assert.rejects(ask('q', { signal: aborting.signal }), /^Error: enough$/);
  });

  for (const [what, frames, expected] of [
    ['no message', [], 'without a message'],
    ['two messages', [grpcFrame(Buffer.of(1)), grpcFrame(Buffer.of(2))], 'more than one message'],
    ['a message that breaks off', [grpcFrame(Buffer.from('whole')).subarray(0, 8)], 'broke off within a message'],
    ['half a frame', [Buffer.of(0, 0)], 'broke off within a message'],
    ['garbage', [Buffer.from('<html>what?</html>')], 'no message of gRPC'],
    ['a compressed message', [Buffer.of(1, 0, 0, 0, 1, 7)], 'a compressed message'],
  ] as const)
    test(`fails on ${what}`, async () => {
      await serve((stream) => finish(stream, frames));
      const { code, details } = await failing(ask());
      assert.equal(code, 'Internal');
      assert.ok(details.includes(expected), details);
    });

  test('takes a message of the greatest size, and none beyond', async () => {
    await serve((stream, asked) => finish(stream, [grpcFrame(Buffer.alloc(Number(asked), 'x'))]));
    assert.equal((await ask(String(MAX_BYTES))).length, MAX_BYTES);
    const { code, details } = await failing(ask(String(MAX_BYTES + 1)));
    assert.equal(code, 'ResourceExhausted');
    assert.match(details, /1001 bytes, more than the 1000 allowed/);
  });

  test('is over with the length of what is too large: none of it is waited for', async () => {
    await serve((stream) => {
      stream.respond(OK);
      stream.write(Buffer.of(0, 0x7f, 0xff, 0xff, 0xff));
    });
    assert.equal((await failing(ask())).code, 'ResourceExhausted');
  });

  test('ends when a server answers for ever', async () => {
    await serve((stream) => {
      stream.respond(OK);
      const more = (): void => {
        while (!stream.destroyed && stream.write(grpcFrame(Buffer.alloc(100))));
      };
      stream.on('drain', more);
      more();
    });
    assert.match((await failing(ask())).details, /more than one message/);
    // A stream of them goes on until its deadline.
    let messages = 0;
    const all = async (): Promise<void> => {
      for await (const _ of channel().stream(METHOD, Buffer.of(), { timeoutMs: 500 }, never)) messages++;
    };
    assert.equal((await failing(all())).code, 'DeadlineExceeded');
    assert.ok(messages > 10, String(messages));
  });

  test('fails on an answer that is not gRPC, and reads none of it', async () => {
    await serve((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'text/html' });
      stream.write('<html>'.repeat(1000));
    });
    const { code, details } = await failing(ask());
    assert.deepEqual([code, details], ['Unknown', 'the server does not speak gRPC: it answered with content-type "text/html"']);
  });

  for (const [status, code] of [
    [404, 'Unimplemented'],
    [503, 'Unavailable'],
    [418, 'Unknown'],
  ] as const)
    test(`is ${code} where HTTP says ${status}`, async () => {
      await serve((stream) => stream.respond({ ':status': status }, { endStream: true }));
      const error = await failing(ask());
      assert.deepEqual([error.code, error.details], [code, `unexpected HTTP status code received from server: ${status}`]);
    });

  test('fails where the server ends it without a status', async () => {
    await serve((stream) => {
      stream.respond(OK);
      stream.end();
    });
    assert.deepEqual((await failing(ask())).details, 'the server ended the call without a status');
  });
});

describe('a gRPC connection', () => {
  test('to nothing is Unavailable, with why', async () => {
    const { code, connected, details } = await failing(ask());
    assert.deepEqual([code, connected], ['Unavailable', false]);
    assert.match(details, /connect ENOENT .*socket/);
  });

  for (const [what, greet] of [
    ['that ends at once', (socket: Socket) => socket.end()],
    ['that ends once it was spoken to', (socket: Socket) => socket.once('data', () => socket.end())],
    ['that is reset', (socket: Socket) => socket.destroy()],
    ['to an HTTP/1 server', (socket: Socket) => socket.resume().end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')],
    ['to what speaks first', (socket: Socket) => socket.resume().write('220 mail.example.com ESMTP\r\n')],
  ] as const)
    test(`${what} is Unavailable`, async () => {
      await listen(createServer({ allowHalfOpen: true }, greet));
      const { code, connected } = await failing(ask());
      assert.deepEqual([code, connected], ['Unavailable', false]);
    });

  test('that never answers ends with the deadline', async () => {
    await listen(createServer((socket) => socket.resume()));
    const { code, connected } = await failing(ask('q', { timeoutMs: 300 }));
    assert.deepEqual([code, connected], ['DeadlineExceeded', false]);
  });

  test('that breaks takes its calls along, and the next call has another', async () => {
    let first = true;
    await serve((stream, asked, session) => {
      if (!first) return finish(stream, [grpcFrame(Buffer.from(asked))]);
      first = false;
      session.destroy();
    });
    const over = channel();
    const { code, connected } = await failing(ask('q', { over }));
    assert.deepEqual([code, connected], ['Unavailable', true]);
    assert.equal(await ask('again', { over }), 'again');
  });

  test('that is going away ends what it has begun, and takes nothing more', async () => {
    const sessions: ServerHttp2Session[] = [];
    let held: (() => void) | undefined;
    await serve((stream, asked, session) => {
      if (!sessions.includes(session)) sessions.push(session);
      if (asked !== 'slow') return finish(stream, [grpcFrame(Buffer.from(asked))]);
      session.goaway(0, 2 ** 31 - 1);
      held = () => finish(stream, [grpcFrame(Buffer.from(asked))]);
    });
    const over = channel();
    const slow = ask('slow', { over });
    // The frame that says so comes before any answer to what is asked afterwards.
    while (sessions.length < 2) await ask('quick', { over });
    held?.();
    assert.equal(await slow, 'slow');
  });

  test('that is going away lets no call wait for a turn that does not come', async () => {
    const sockets: Socket[] = [];
    // It takes no streams at all.
    const noStreams = Buffer.from('000006040000000000000300000000', 'hex');
    await listen(
      createServer((socket) => {
        sockets.push(socket.resume());
        socket.write(noStreams);
      }),
    );
    const over = channel();
    assert.equal((await failing(ask('first', { over, timeoutMs: 50 }))).code, 'DeadlineExceeded');
    const waiting = failing(ask('second', { over, timeoutMs: 60_000 }));
    sockets[0]?.write(Buffer.from('0000080700000000000000000000000000', 'hex'));
    assert.equal((await waiting).code, 'Unavailable');
  });

  test('that is ending is closed with the client as well', async () => {
    const sessions = new Set<ServerHttp2Session>();
    await serve((stream, asked, session) => {
      sessions.add(session);
      if (asked === 'slow') session.goaway(0, 2 ** 31 - 1);
      else finish(stream, [grpcFrame(Buffer.from(asked))]);
    });
    const over = channel();
    const slow = failing(ask('slow', { over }));
    while (sessions.size < 2) await ask('quick', { over });
    over.close();
    assert.equal((await slow).code, 'Unavailable');
  });

  test('that could not be made is not tried again with each call', async () => {
    const clock = new FakeClock();
    const over = channel(clock);
    assert.match((await failing(ask('q', { over }))).details, /ENOENT/);
    const seen = await serve((stream, asked) => finish(stream, [grpcFrame(Buffer.from(asked))]));
    assert.match((await failing(ask('q', { over }))).details, /ENOENT/);
    assert.equal(seen.calls, 0);
    await clock.advance(50);
    assert.equal(await ask('now', { over }), 'now');
  });

  test('that is closed refuses calls', async () => {
    const over = channel();
    over.close();
    assert.equal((await failing(ask('q', { over }))).details, 'the client is closed');
  });
});

describe('a stream over gRPC', () => {
  test('comes message by message, and is cancelled by who has enough', async () => {
    const cancelled = new Promise<number>((resolve) => {
      void serve((stream) => {
        stream.once('close', () => resolve(stream.rstCode));
        stream.respond(OK);
        for (const each of ['a', 'b', 'c']) stream.write(grpcFrame(Buffer.from(each)));
      });
    });
    const seen: string[] = [];
    for await (const message of channel().stream(METHOD, Buffer.of(), { timeoutMs: 10_000 }, never)) {
      seen.push(text(message));
      if (seen.length === 2) break;
    }
    assert.deepEqual(seen, ['a', 'b']);
    assert.equal(await cancelled, 8);
  });

  test('holds back a server whose messages nobody takes', async () => {
    let sent = 0;
    await serve((stream) => {
      stream.respond(OK);
      const more = (): void => {
        while (sent < 100_000 && !stream.destroyed) {
          sent++;
          if (!stream.write(grpcFrame(Buffer.alloc(900)))) return;
        }
      };
      stream.on('drain', more);
      more();
    });
    const messages = channel().stream(METHOD, Buffer.of(), { timeoutMs: 10_000 }, never);
    await messages.next();
    const over = channel();
    // Other calls are served meanwhile.
    await failing(ask('q', { over }));
    assert.ok(sent < 10_000, String(sent));
    await messages.return(undefined);
  });
});
