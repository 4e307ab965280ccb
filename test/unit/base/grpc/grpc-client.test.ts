import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type GrpcCallEnd, GrpcClient } from '../../../../src/base/grpc/grpc-client.ts';
import { GrpcError } from '../../../../src/base/grpc/grpc-error.ts';
import { GrpcServer } from '../../../../src/base/grpc/grpc-server.ts';
import { Registration } from '../../../../src/deviceplugins/api/deviceplugin_pb.js';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const { register } = Registration.method;

test('each call tells how it ended, and how long it took', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'grpc-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const socketPath = join(directory, 'socket');
  const clock = new FakeClock();
  const server = new GrpcServer({ clock });
  t.after(() => server.close());
  let onAsked = (): void => {};
  server.unary(register, async ({ resourceName }) => {
    if (resourceName === 'refused') throw new GrpcError('Register', { code: 'FailedPrecondition', details: 'no' });
    if (resourceName === 'hanging') {
      onAsked();
      return new Promise<never>(() => {});
    }
    await clock.advance(250);
    return {};
  });
  await server.listen(socketPath, 0o600);
  const ends: GrpcCallEnd[] = [];
  const client = new GrpcClient({ target: { socketPath }, clock, maxMessageBytes: 1 << 20 });
  const call = (resourceName: string, signal = new AbortController().signal): Promise<unknown> =>
    client.unary(register, { resourceName }, { timeoutMs: 5000, onEnd: (end) => void ends.push(end) }, signal);
  const method = '/v1beta1.Registration/Register';
  await call('served');
  await assert.rejects(call('refused'), /code = FailedPrecondition desc = no/);
  assert.deepEqual(ends.splice(0), [
    { method, code: 'OK', tookMs: 250 },
    { method, code: 'FailedPrecondition', tookMs: 0 },
  ]);
  const stop = new AbortController();
  onAsked = () => stop.abort(new Error('given up'));
  await assert.rejects(call('hanging', stop.signal), /given up/);
  onAsked = () => void clock.advance(5000);
  await assert.rejects(call('hanging'), /DeadlineExceeded/);
  client.close();
  await assert.rejects(call('served'));
  assert.deepEqual(
    ends.map(({ code, tookMs }) => [code, tookMs]),
    [
      ['Canceled', 0],
      ['DeadlineExceeded', 5000],
      ['Unavailable', 0],
    ],
  );
});
