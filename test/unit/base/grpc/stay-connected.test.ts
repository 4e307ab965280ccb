import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Subject, firstValueFrom, take, toArray } from 'rxjs';
import { GrpcChannel } from '../../../../src/base/grpc/grpc-channel.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

test('a channel that stays connected tells when its server comes and goes, and dials one that hangs up no more often than once a second', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'grpc-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const socketPath = join(directory, 'socket');
  const clock = new FakeClock();
  const changes = new Subject<boolean>();
  const told: boolean[] = [];
  changes.subscribe((isConnected) => told.push(isConnected));
  const onChange = (isConnected: boolean): void => changes.next(isConnected);
  const channel = new GrpcChannel({ target: { socketPath }, clock, maxMessageBytes: 1000, random: () => 0, onChange });
  const stop = new AbortController();
  const staying = channel.stayConnected(clock, stop.signal);
  // Nobody listens yet.
  await clock.advance(60_000);

  const server = createServer();
  let dialled = 0;
  const sessions: ServerHttp2Session[] = [];
  server.on('session', (session) => {
    dialled++;
    sessions.push(session);
  });
  server.listen(socketPath);
  await once(server, 'listening');
  const next = (count: number): Promise<readonly boolean[]> => firstValueFrom(changes.pipe(take(count), toArray()));
  const come = next(1);
  await clock.advance(10_000);
  assert.deepEqual(await come, [true]);

  for (let i = 1; i <= 20; i++) {
    const gone = next(1);
    sessions.at(-1)?.destroy();
    await gone;
    await clock.advance(999);
    assert.equal(dialled, i, 'too early');
    const back = next(1);
    await clock.advance(1);
    await back;
  }
  assert.deepEqual(told, [...Array.from({ length: 20 }, () => [true, false]).flat(), true]);

  stop.abort();
  await staying;
  channel.close();
  server.close();
  await once(server, 'close');
});
