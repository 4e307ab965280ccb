import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { defer, firstValueFrom, NEVER, type Observable, Subject, type Subscription, take, toArray } from 'rxjs';
import { systemClock } from '../../../../../src/base/clock.ts';
import { ContainerEventType, RuntimeService } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { type CriClient, openCriClient } from '../../../../../src/engines/cri/client/cri-client.ts';
import { containerEvents } from '../../../../../src/engines/cri/observe/container-events.ts';
import type { PodUid } from '../../../../../src/model/pod.ts';
import { type CriCall, CriServer } from '../../../../fakes/cri-server.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../../fakes/recording-logger.ts';

const { getContainerEvents } = RuntimeService.method;
type Call = CriCall<typeof getContainerEvents.input, typeof getContainerEvents.output>;

let cri: CriServer;
let client: CriClient;
let calls: Subject<Call>;
let clock: FakeClock;
let listening: Subscription | undefined;
let log: RecordingLogger;
beforeEach(async () => {
  cri = await CriServer.listen();
  const tell = { engineCalled: () => {} };
  client = openCriClient({ endpoint: cri.endpoint, clock: systemClock, random: () => 0, requestTimeoutMs: 30_000, tell });
  calls = new Subject();
  clock = new FakeClock();
  log = new RecordingLogger();
  cri.on(getContainerEvents, (call) => calls.next(call));
});
afterEach(async () => {
  listening?.unsubscribe();
  client.close();
  await cri[Symbol.asyncDispose]();
});

function follow(listed: Observable<PodUid> = NEVER): Observable<PodUid> {
  const all = new Subject<PodUid>();
  listening = containerEvents({ client, clock, random: () => 0, log, listed }).subscribe(all);
  return all;
}
const nextCall = (): Promise<Call> => firstValueFrom(calls);
const event = (containerId: string, uid?: string, containerEventType = ContainerEventType.CONTAINER_STARTED_EVENT) => ({
  containerId,
  containerEventType,
  ...(uid !== undefined && { podSandboxStatus: { metadata: { uid, name: 'n', namespace: 'ns', attempt: 0 } } }),
});

describe('the events of a runtime', () => {
  test('name the pods, also of what is removed by then, and of nothing that is unknown', async () => {
    const call = nextCall();
    const seen = firstValueFrom(follow().pipe(take(3), toArray()));
    const { send } = await call;
    send(event('c1', 'u1'));
    send(event('c9', undefined, ContainerEventType.CONTAINER_DELETED_EVENT));
    send(event('c2', 'u2'));
    send(event('c1', undefined, ContainerEventType.CONTAINER_DELETED_EVENT));
    assert.deepEqual(await seen, ['u1', 'u2', 'u1']);
    assert.deepEqual(log.lines, []);
  });

  test('come in one stream for all who subscribe, which ends with the last of them', async () => {
    const call = nextCall();
    const events = containerEvents({ client, clock, random: () => 0, log, listed: NEVER });
    const [one, two] = [firstValueFrom(events), firstValueFrom(events)];
    const { send, cancelled } = await call;
    send(event('c1', 'u1'));
    assert.deepEqual(await Promise.all([one, two]), ['u1', 'u1']);
    await cancelled;
    assert.equal(cri.asked.length, 1);
  });

  test('that break off are said once, however often, and go on with more and more patience', async () => {
    const first = nextCall();
    const seen = firstValueFrom(follow());
    (await first).hangUp();
    const said = await log.next('container events broke off; retrying');
    assert.equal(said.level, 'warn');
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      const again = nextCall();
      const fromMs = clock.monotonicMs();
      (await clock.until(again, 50)).end('Unavailable', 'starting');
      waits.push(clock.monotonicMs() - fromMs);
    }
    assert.ok((waits[0] ?? Infinity) <= 200 && (waits.at(-1) ?? 0) >= 5_000 && waits.every((ms) => ms <= 11_000), waits.join());
    const last = nextCall();
    (await clock.until(last, 1000)).send(event('c1', 'u1'));
    assert.equal(await seen, 'u1');
    assert.deepEqual(
      log.lines.map(({ message }) => message),
      ['container events broke off; retrying', 'container events resumed'],
    );
  });

  test('that break off are there again when they stay for longer than the waits, although nothing happens', async () => {
    const first = nextCall();
    follow();
    (await first).hangUp();
    await log.next('container events broke off; retrying');
    for (let attempt = 0; attempt < 3; attempt++) (await clock.until(nextCall(), 50)).end('Unavailable', 'starting');
    assert.equal(log.count('container events resumed'), 0);
    const { fields } = await clock.until(log.next('container events resumed'), 50);
    assert.ok(Number(fields['failures']) >= 4, JSON.stringify(fields));
  });

  test('that are none of CRI are a break, too', async () => {
    const first = nextCall();
    follow();
    (await first).sendBytes(Buffer.from('HTTP/1.1 400 Bad Request'));
    assert.match(String((await log.next('container events broke off; retrying')).fields['error']), /what is no message of gRPC/);
  });

  test('are asked for again after 5 minutes of silence: the stream may be dead. Nothing is said of it', async () => {
    const first = nextCall();
    const seen = firstValueFrom(follow());
    const { cancelled } = await first;
    const second = nextCall();
    await clock.advance(299_999);
    await clock.advance(1);
    await cancelled;
    (await second).send(event('c1', 'u1'));
    assert.equal(await seen, 'u1');
    assert.deepEqual(log.lines, []);
  });
});

test('a runtime without events is listed, which is said once, and asked for events again after 10 minutes', async () => {
  let hasEvents = false;
  calls.subscribe(({ send, end }) => (hasEvents ? send(event('c1', 'u2')) : end('Unimplemented', 'unknown method')));
  const subscribed = new Subject<void>();
  const listed = new Subject<PodUid>();
  let next = firstValueFrom(subscribed);
  const all = follow(
    defer(() => {
      subscribed.next();
      return listed;
    }),
  );
  for (const _ of [1, 2]) {
    await next;
    await clock.advance(599_999);
    const seen = firstValueFrom(all);
    listed.next('u1' as PodUid);
    assert.equal(await seen, 'u1');
    next = firstValueFrom(subscribed);
    await clock.advance(1);
  }
  await next;
  hasEvents = true;
  const seen = firstValueFrom(all);
  await clock.advance(600_000);
  assert.equal(await seen, 'u2');
  assert.equal(listed.observed, false);
  assert.deepEqual(
    log.lines.map(({ level, message }) => [level, message]),
    [['info', 'the container runtime has no events: its containers are listed every second']],
  );
});
