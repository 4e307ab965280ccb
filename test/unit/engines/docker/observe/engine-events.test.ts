import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { silentLogger } from '../../../../../src/base/logger.ts';
import { reconnectDelayMs } from '../../../../../src/engines/common/observe/reconnect-delay.ts';
import { engineEvents } from '../../../../../src/engines/docker/observe/engine-events.ts';
import { UnmadeContainers } from '../../../../../src/engines/docker/containers/unmade-containers.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { type ScriptedEngine, scriptedEngine } from '../../../../fakes/scripted-engine.ts';
import { anEngineClient } from '../../../../builders/docker-parts.ts';

const event = (uid: string, atMs: number): string =>
  `${JSON.stringify({ Type: 'container', Action: 'die', timeNano: atMs * 1e6, Actor: { Attributes: { 'io.kubernetes.pod.uid': uid } } })}\n`;

const unmade = new UnmadeContainers();

interface World {
  readonly engine: ScriptedEngine;
  readonly clock: FakeClock;
  readonly seen: string[];
  readonly logged: string[];
  readonly stop: () => void;
}

async function follow(context: TestContext, answer: (response: ServerResponse, nth: number) => void): Promise<World> {
  let nth = 0;
  const engine = await scriptedEngine((_, response) => answer(response, nth++));
  const clock = new FakeClock();
  const client = anEngineClient(engine.endpoint, clock);
  const seen: string[] = [];
  const logged: string[] = [];
  const note = (message: string): void => void logged.push(message);
  const log = { ...silentLogger, warn: note, info: note };
  const subscription = engineEvents({ client, clock, random: () => 0, log, unmade }).subscribe((uid) => seen.push(uid));
  context.after(async () => {
    subscription.unsubscribe();
    await engine.close();
    await until(() => clock.actions.length === 0);
  });
  return { engine, clock, seen, logged, stop: () => subscription.unsubscribe() };
}

const sinceOf = (request: string | undefined): string | null =>
  new URL(`http://x${request?.slice('GET '.length)}`).searchParams.get('since');

describe('engine events', () => {
  test('events cut anywhere between chunks come whole', async (t) => {
    const text = Buffer.from(event('ü-1', 1) + event('ü-2', 2));
    const { seen } = await follow(t, (response) => {
      response.writeHead(200);
      for (const byte of text) response.write(Buffer.of(byte));
    });
    await until(() => seen.length === 2);
    assert.deepEqual(seen, ['ü-1', 'ü-2']);
  });

  test('the removal of what could not be made is not reported, any other is', async (t) => {
    unmade.begin('broken');
    unmade.begin('whole');
    unmade.made('whole');
    const of = (Action: string, name: string, uid: string): string =>
      `${JSON.stringify({ Action, Actor: { Attributes: { name, 'io.kubernetes.pod.uid': uid } } })}\n`;
    const { seen } = await follow(t, (response) => {
      response.writeHead(200);
      response.write(
        of('destroy', 'broken', 'u1') + of('die', 'broken', 'u2') + of('destroy', 'whole', 'u3') + of('destroy', 'other', 'u4'),
      );
    });
    await until(() => seen.length === 3);
    assert.deepEqual(seen, ['u2', 'u3', 'u4']);
  });

  test('only what changes pods is asked for, and at first only news', async (t) => {
    const { engine } = await follow(t, (response) => response.writeHead(200).flushHeaders());
    await until(() => engine.requests.length === 1);
    const { searchParams } = new URL(`http://x${engine.requests[0]?.slice('GET '.length)}`);
    assert.deepEqual(JSON.parse(searchParams.get('filters') ?? ''), {
      type: ['container'],
      event: ['start', 'die', 'oom', 'destroy'],
      label: ['io.kubernetes.pod.uid'],
    });
    assert.equal(searchParams.get('since'), null);
  });

  test('after a break it asks for what came since the last event', async (t) => {
    const { engine, clock, seen } = await follow(t, (response, nth) => {
      response.writeHead(200).write(event(`u${nth}`, 5000 + nth), () => nth === 0 && response.destroy());
    });
    await until(() => seen.length === 1);
    clock.moveDate(10_000);
    await pumped(clock, () => seen.length === 2);
    assert.equal(sinceOf(engine.requests[1]), '5');
  });

  test('after a clock was set back a break asks for what came since now, and then since the last event again', async (t) => {
    const { engine, clock, seen } = await follow(t, (response, nth) => {
      const atMs = [3_600_000, 2000, 2001][nth] ?? 0;
      response.writeHead(200).write(event(`u${nth}`, atMs), () => nth < 2 && response.destroy());
    });
    await until(() => seen.length === 1);
    await pumped(clock, () => seen.length === 2);
    assert.ok(Number(sinceOf(engine.requests[1])) < 1);
    clock.moveDate(10_000);
    await pumped(clock, () => seen.length === 3);
    assert.equal(sinceOf(engine.requests[2]), '2');
  });

  test('a connection without any event is resumed from its beginning', async (t) => {
    const { engine, clock } = await follow(t, (response, nth) => (nth === 0 ? response.writeHead(200).end() : response.writeHead(200)));
    await pumped(clock, () => engine.requests.length === 2);
    assert.equal(sinceOf(engine.requests[1]), '0');
  });

  test('a connection that is silent for five minutes is made anew', async (t) => {
    const { engine, clock } = await follow(t, (response) => response.writeHead(200).flushHeaders());
    await until(() => clock.actions.some(({ delay }) => delay === 300_000));
    await clock.advance(299_999);
    assert.equal(engine.requests.length, 1);
    await clock.advance(1);
    await until(() => engine.requests.length === 2);
  });

  test('one that breaks off again and again is tried ever more slowly and warned of once', async (t) => {
    const { engine, clock, logged } = await follow(t, (response) => response.writeHead(200).end());
    await pumped(clock, () => engine.requests.length === 5);
    assert.ok(clock.now() >= 100 + 200 + 400 + 800);
    assert.deepEqual(logged, ['engine events broke off; retrying', 'engine events resumed']);
  });

  test('an unsubscribed stream leaves no timer, not even between attempts', async (t) => {
    const { engine, clock, stop } = await follow(t, (response) => response.writeHead(500).end());
    await until(() => engine.requests.length === 1 && clock.actions.some(({ delay }) => delay < 1000));
    stop();
    await until(() => clock.actions.length === 0);
    assert.equal(engine.requests.length, 1);
  });

  test('the waits between attempts double up to ten seconds, with up to half left to chance', () => {
    const waits = (random: number) => [0, 1, 2, 6, 7, 100].map((failures) => reconnectDelayMs(failures, () => random));
    assert.deepEqual(waits(0), [100, 200, 400, 6400, 10_000, 10_000]);
    assert.deepEqual(waits(1), [50, 100, 200, 3200, 5000, 5000]);
  });
});

/** Turns of the event loop, until `done`. */
async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setImmediate(resolve));
}

/** As `until`, while time goes on. */
async function pumped(clock: FakeClock, done: () => boolean): Promise<void> {
  while (!done()) await clock.advance(10);
}
