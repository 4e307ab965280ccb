import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '../../../../src/base/clock.ts';
import { GrpcClient } from '../../../../src/base/grpc/grpc-client.ts';
import { GrpcError } from '../../../../src/base/grpc/grpc-error.ts';
import { grpcFrame } from '../../../../src/base/grpc/grpc-frame.ts';
import { GrpcServer, type GrpcServerOptions } from '../../../../src/base/grpc/grpc-server.ts';
import { DevicePlugin, Registration } from '../../../../src/deviceplugins/api/deviceplugin_pb.js';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const never = new AbortController().signal;
const { register } = Registration.method;
const { listAndWatch, getPreferredAllocation } = DevicePlugin.method;
const REGISTER = '/v1beta1.Registration/Register';

let directory: string;
let socketPath: string;
const ends: (() => unknown)[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grpc-'));
  socketPath = join(directory, 'socket');
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  rmSync(directory, { recursive: true, force: true });
});

async function served(prepare: (server: GrpcServer) => void, options: Partial<GrpcServerOptions> = {}): Promise<GrpcServer> {
  const server = new GrpcServer({ clock: systemClock, ...options });
  prepare(server);
  await server.listen(socketPath, 0o600);
  ends.push(() => server.close());
  return server;
}

function client(): GrpcClient {
  const one = new GrpcClient({ target: { socketPath }, clock: systemClock, userAgent: 'test', maxMessageBytes: 16 << 20 });
  ends.push(() => one.close());
  return one;
}

const ask = (resourceName: string, { timeoutMs = 5000, signal = never } = {}, of = client()): Promise<unknown> =>
  of.unary(register, { version: 'v1beta1', resourceName }, { timeoutMs }, signal);

function http2(): ClientHttp2Session {
  const session = connectHttp2('http://localhost', { createConnection: () => connect(socketPath) });
  session.on('error', () => {});
  ends.push(() => session.destroy());
  return session;
}

/** What is answered to these bytes; `end: false` leaves the request open. */
async function raw(
  body: Uint8Array,
  { headers = {}, end = true, session = http2() }: { headers?: Record<string, string>; end?: boolean; session?: ClientHttp2Session } = {},
): Promise<IncomingHttpHeaders> {
  const call = session.request({ ':method': 'POST', ':path': REGISTER, 'content-type': 'application/grpc', te: 'trailers', ...headers });
  call.on('error', () => {});
  call.write(body);
  if (end) call.end();
  let all: IncomingHttpHeaders = {};
  call.on('response', (some) => (all = { ...all, ...some }));
  call.on('trailers', (some) => (all = { ...all, ...some }));
  call.resume();
  await once(call, 'close');
  return all;
}

const hang = (): Promise<never> => new Promise(() => {});

describe('A gRPC server', () => {
  test('answers calls with one message', async () => {
    const asked: unknown[] = [];
    await served((server) =>
      server.unary(register, (input) => {
        asked.push(input.resourceName);
        return {};
      }),
    );
    assert.equal(Object(await ask('a.b/c')).$typeName, 'v1beta1.Empty');
    assert.deepEqual(asked, ['a.b/c']);
  });

  test('answers calls with a stream, which ends with its client', async () => {
    const ended = Promise.withResolvers<unknown>();
    await served((server) =>
      server.stream(listAndWatch, async function* (_, { signal }) {
        signal.addEventListener('abort', () => ended.resolve(signal.reason));
        yield { devices: [{ ID: 'one' }] };
        yield { devices: [] };
        await hang();
      }),
    );
    const lists: string[][] = [];
    for await (const { devices } of client().stream(listAndWatch, {}, { timeoutMs: 5000 }, never))
      if (lists.push(devices.map(({ ID }) => ID)) === 2) break;
    assert.deepEqual(lists, [['one'], []]);
    assert.match(String(await ended.promise), /Canceled/);
  });

  for (const [what, thrown, expected] of [
    ['a status', new GrpcError('', { code: 'NotFound', details: 'no 100 % such «name»\n' }), 'NotFound desc = no 100 % such «name»\n'],
    ['an error', new Error('outer', { cause: new Error('inner') }), 'Unknown desc = outer: inner'],
    ['a code of its own', new GrpcError('', { code: 'Code(99)', details: '' }), 'Code(99) desc = '],
  ] as const)
    test(`gives the client ${what} that its handler throws`, async () => {
      await served((server) => server.unary(register, () => Promise.reject(thrown)));
      await assert.rejects(ask('x'), (error: Error) => error.message === `Register: rpc error: code = ${expected}`);
    });

  test('says of a method and a service that they are not here', async () => {
    await served((server) => server.unary(DevicePlugin.method.allocate, () => ({})));
    await assert.rejects(ask('x'), /Unimplemented desc = unknown service v1beta1.Registration/);
    const preferred = client().unary(DevicePlugin.method.getPreferredAllocation, {}, { timeoutMs: 5000 }, never);
    await assert.rejects(preferred, /Unimplemented desc = unknown method GetPreferredAllocation for service v1beta1.DevicePlugin/);
  });

  test('keeps the deadline of a call, whose handler is told', async () => {
    const told = Promise.withResolvers<unknown>();
    await served((server) =>
      server.unary(register, (_, { signal }) => {
        signal.addEventListener('abort', () => told.resolve(signal.reason));
        return hang();
      }),
    );
    const answer = await raw(grpcFrame(Buffer.alloc(0)), { headers: { 'grpc-timeout': '20m' } });
    assert.equal(answer['grpc-status'], '4');
    assert.match(String(await told.promise), /deadline exceeded/);
    assert.match(
      String((await raw(Buffer.alloc(5), { headers: { 'grpc-timeout': 'soon' } }))['grpc-message']),
      /malformed grpc-timeout: soon/,
    );
  });

  test('takes messages up to its bound, and no larger ones', async () => {
    await served((server) => server.unary(register, () => ({})), { maxMessageBytes: 1000 });
    // 9 bytes of version, 3 of the second field's length.
    const bytes = 1000 - 9 - 2 - 3;
    await ask('x'.repeat(bytes + 2));
    await assert.rejects(ask('x'.repeat(bytes + 3)), /ResourceExhausted desc = the client sent a message of 1001 bytes/);
    const announced = Buffer.alloc(5);
    announced.writeUInt32BE(0xff_ff_ff_ff, 1);
    assert.equal((await raw(announced, { end: false }))['grpc-status'], '8');
  });

  for (const [what, body, status] of [
    ['no message', Buffer.alloc(0), '13'],
    ['two messages', Buffer.concat([grpcFrame(Buffer.alloc(0)), grpcFrame(Buffer.alloc(0))]), '13'],
    ['half a message', Buffer.of(0, 0, 0, 0, 9, 1), '13'],
    ['a compressed message', Buffer.of(1, 0, 0, 0, 0), '13'],
    ['what is no message of the type', grpcFrame(Buffer.from([0xff, 0xff])), '13'],
    ['a message', grpcFrame(Buffer.alloc(0)), '0'],
  ] as const)
    test(`answers a client that sends ${what}`, async () => {
      await served((server) => server.unary(register, () => ({})));
      assert.equal((await raw(body))['grpc-status'], status);
    });

  test('answers what is no call of gRPC in HTTP', async () => {
    await served((server) => server.unary(register, () => ({})));
    assert.equal((await raw(Buffer.alloc(5), { headers: { 'content-type': 'text/plain' } }))[':status'], 415);
    assert.equal((await raw(Buffer.alloc(5), { headers: { ':method': 'PUT' } }))[':status'], 405);
  });

  test('waits half a minute for a request that never ends', async () => {
    const clock = new FakeClock();
    await served((server) => server.unary(register, () => ({})), { clock });
    const answer = await clock.until(raw(Buffer.alloc(3), { end: false }), 1000);
    assert.ok(clock.monotonicMs() >= 30_000);
    assert.match(String(answer['grpc-message']), /did not send the whole request in time/);
  });

  test('gives the place of an idle connection to a new one, and none of a busy one', async () => {
    const busy = Promise.withResolvers<void>();
    const server = (one: GrpcServer): unknown =>
      one.unary(register, ({ resourceName }) => {
        if (resourceName === 'hang') {
          busy.resolve();
          return hang();
        }
        return {};
      });
    await served(server, { maxConnections: 2 });
    const first = client();
    const hanging = ask('hang', {}, first);
    hanging.catch(() => {});
    await busy.promise;
    const idle = http2();
    await raw(grpcFrame(Buffer.alloc(0)), { session: idle });
    const gone = once(idle, 'close');
    const third = client();
    await ask('x', {}, third);
    await gone;
    const alsoHanging = ask('hang', {}, third);
    alsoHanging.catch(() => {});
    await ask('x', {}, third);
    await assert.rejects(ask('x'), /Unavailable/);
  });

  test('holds no more than 16 MiB for a client that takes nothing', async () => {
    const size = 5 << 20;
    await served((server) => server.unary(getPreferredAllocation, () => ({ containerResponses: [{ deviceIDs: ['x'.repeat(size)] }] })));
    const session = http2();
    const path = '/v1beta1.DevicePlugin/GetPreferredAllocation';
    const calls = Array.from({ length: 8 }, () => {
      const call = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' });
      call.on('error', () => {});
      call.end(grpcFrame(Buffer.alloc(0)));
      return once(call, 'response').then(([headers]) => String((headers as IncomingHttpHeaders)['grpc-status']));
    });
    const statuses = await Promise.all(calls);
    assert.equal(statuses.filter((status) => status === '8').length, 5, statuses.join());
    const others = client().unary(getPreferredAllocation, {}, { timeoutMs: 5000 }, never);
    assert.equal((await others).containerResponses.length, 1);
  });

  test('ends a call of which the client has taken nothing for half a minute', async () => {
    const clock = new FakeClock();
    await served((server) => server.unary(getPreferredAllocation, () => ({ containerResponses: [{ deviceIDs: ['x'.repeat(5 << 20)] }] })), {
      clock,
    });
    const path = '/v1beta1.DevicePlugin/GetPreferredAllocation';
    const call = http2().request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
    call.on('error', () => {});
    const closed = new Promise((resolve) => call.once('close', resolve));
    call.end(grpcFrame(Buffer.alloc(0)));
    await once(call, 'response');
    await clock.advance(30_000);
    await closed;
  });

  test('closes also where a client takes nothing', async () => {
    const server = await served((one) =>
      one.unary(getPreferredAllocation, () => ({ containerResponses: [{ deviceIDs: ['x'.repeat(5 << 20)] }] })),
    );
    const session = http2();
    const call = session.request({
      ':method': 'POST',
      ':path': '/v1beta1.DevicePlugin/GetPreferredAllocation',
      'content-type': 'application/grpc',
    });
    call.on('error', () => {});
    call.end(grpcFrame(Buffer.alloc(0)));
    await once(call, 'response');
    await server.close();
  });

  test('answers others while one floods it with calls that it resets', async () => {
    await served((server) => server.unary(register, hang));
    const flood = http2();
    const flooding = new Promise((closed) => flood.once('close', closed));
    const more = (): void => {
      for (let n = 0; n < 100 && !flood.destroyed; n++) {
        const call = flood.request({ ':method': 'POST', ':path': REGISTER, 'content-type': 'application/grpc' });
        call.on('error', () => {});
        call.close(8);
      }
      if (!flood.destroyed) setImmediate(more);
    };
    more();
    await assert.rejects(ask('x', { timeoutMs: 200 }), /DeadlineExceeded/);
    await flooding;
  });

  test('has its socket from the first moment on in the mode that it was given, and removes it', async () => {
    const server = await served((one) => one.unary(register, () => ({})));
    assert.equal(lstatSync(socketPath).mode & 0o777, 0o600);
    const hanging = client();
    await ask('x', {}, hanging);
    await server.close();
    assert.equal(existsSync(socketPath), false);
    await assert.rejects(ask('x', {}, hanging), /Unavailable/);
  });

  test('takes the place of a socket that nobody answers on, and of nothing else', async () => {
    const unanswered = join(directory, 'left');
    const left = createServer().listen(unanswered);
    await once(left, 'listening');
    const { renameSync } = await import('node:fs');
    renameSync(unanswered, socketPath);
    await assert.rejects(new GrpcServer({ clock: systemClock }).listen(socketPath, 0o600), /another process listens on/);
    await new Promise((closed) => left.close(closed));
    const server = await served((one) => one.unary(register, () => ({})));
    await ask('x');
    await server.close();
    writeFileSync(socketPath, 'a file');
    await assert.rejects(new GrpcServer({ clock: systemClock }).listen(socketPath, 0o600), /is no socket/);
    rmSync(socketPath);
    symlinkSync('/dev/null', socketPath);
    await assert.rejects(new GrpcServer({ clock: systemClock }).listen(socketPath, 0o600), /is no socket/);
  });
});
