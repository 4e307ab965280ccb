import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerHttp2Session } from 'node:http2';
import { createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { GrpcChannel } from '../../../../src/base/grpc/grpc-channel.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const SETTINGS = Buffer.from('000000040000000000', 'hex');
const GOAWAY = Buffer.from('0000080700000000000000000000000000', 'hex');

describe('a channel that stays connected', () => {
  let directory: string;
  let socketPath: string;
  let clock: FakeClock;
  let channel: GrpcChannel;
  let told: boolean[];
  let staying: Promise<void>;
  const stop = { signal: new AbortController() };
  const servers: Server[] = [];
  const sockets = new Set<Socket>();

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'grpc-'));
    socketPath = join(directory, 'socket');
    clock = new FakeClock();
    // That of the last test may yet hear that it was closed.
    const heard: boolean[] = [];
    told = heard;
    stop.signal = new AbortController();
    const onChange = (isConnected: boolean): void => void heard.push(isConnected);
    channel = new GrpcChannel({ target: { socketPath }, clock, maxMessageBytes: 1000, random: () => 0, onChange });
    staying = channel.stayConnected(clock, stop.signal.signal);
  });

  afterEach(async () => {
    stop.signal.abort();
    await staying;
    assert.equal(clock.actions.length, 0, 'a timer is left');
    channel.close();
    for (const server of servers.splice(0)) server.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    rmSync(directory, { recursive: true });
  });

  const listening = async (server: Server): Promise<Server> => {
    servers.push(server);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    });
    server.listen(socketPath);
    await once(server, 'listening');
    return server;
  };
  /** Lets time pass until it holds, in so small steps that what is real keeps up with it. */
  const until = async (what: string, holds: () => boolean, stepMs = 10): Promise<void> => {
    const endMs = performance.now() + 20_000;
    while (!holds()) {
      assert.ok(performance.now() < endMs, `it never came to be that ${what}`);
      await clock.advance(stepMs);
    }
  };

  it('tells when its server comes and goes, and dials one that hangs up no more often than once a second', async () => {
    // Nobody listens yet.
    await clock.advance(60_000);
    const server = createServer();
    const sessions: ServerHttp2Session[] = [];
    server.on('session', (session) => sessions.push(session));
    await listening(server);
    await until('it is there', () => told.length === 1);
    for (let i = 1; i <= 20; i++) {
      sessions.at(-1)?.destroy();
      await until('it has gone', () => told.length === 2 * i, 0);
      await clock.advance(999);
      assert.equal(sessions.length, i, 'too early');
      await until('it is back', () => told.length === 2 * i + 1, 1);
    }
    assert.deepEqual(told, [...Array.from({ length: 20 }, () => [true, false]).flat(), true]);
  });

  it('has one connection at a time to a server that takes no calls and does not hang up either, and hears each time that it is gone', async () => {
    let dialled = 0;
    let others = 0;
    let hungUp = 0;
    await listening(
      createSocketServer({ allowHalfOpen: true }, (socket) => {
        dialled++;
        others = Math.max(others, dialled - hungUp - 1);
        // It hears when the other end hangs up.
        socket.resume();
        socket.once('end', () => hungUp++);
        socket.write(Buffer.concat([SETTINGS, GOAWAY]));
      }),
    );
    await until('it has dialled often', () => dialled === 50, 100);
    assert.equal(others, 0);
    assert.deepEqual(told.slice(0, 4), [true, false, true, false]);
  });

  it('is not connected to a server that goes away, though a call is under way; the call goes on', async () => {
    const server = createServer();
    const sessions: ServerHttp2Session[] = [];
    let answer = (): void => {};
    server.on('session', (session) => sessions.push(session));
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      answer = () => stream.end(Buffer.from('000000000141', 'hex'));
    });
    await listening(server);
    await until('it is there', () => told.length === 1);
    const { signal } = stop.signal;
    const call = channel.unary('/a.Service/Ask', Buffer.of(), { timeoutMs: 86_400_000 }, signal);
    await once(server, 'stream');
    // Nobody listens any more.
    server.close();
    sessions[0]?.goaway();
    await until('it is gone', () => told.length === 2);
    await clock.advance(60_000);
    assert.deepEqual(told, [true, false]);
    answer();
    assert.equal(String(await call), 'A');
    await until('the connection has ended', () => sockets.size === 0);
  });

  it('gives up on a server that says nothing, and finds the one that has come in its place', async () => {
    await listening(createSocketServer());
    await until('it has dialled', () => sockets.size === 1);
    rmSync(socketPath);
    await listening(createServer());
    await clock.advance(19_000);
    assert.deepEqual(told, []);
    await until('the other is there', () => told.length > 0);
    assert.deepEqual(told, [true]);
  });
});
