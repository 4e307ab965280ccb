import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { Readable } from 'node:stream';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Container, Pod } from '../../../src/model/pod.ts';
import type { ContainerAccess } from '../../../src/ports/container-access.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import { HookRunner } from '../../../src/probes/hook-runner.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const ID = 'c1' as ContainerId;
const never = new AbortController().signal;
const command = { exec: { command: ['do', 'it'] } };

describe('hooks', () => {
  let clock: FakeClock;
  let hooks: HookRunner;
  let events: string[];
  let ran: string[][];
  /** Ends the command that runs. */
  let end: (exitCode: number, output?: string) => void;
  let stop: AbortController;
  let stopped: Promise<void>;
  beforeEach(() => {
    clock = new FakeClock();
    events = [];
    ran = [];
    stop = new AbortController();
    const exec: ContainerAccess['exec'] = async (_id, words, _wanted, signal) => {
      ran.push([...words]);
      const stdout = new Readable({ read: () => {} });
      const ended = new Promise<number>((resolve, reject) => {
        end = (exitCode, output = '') => {
          stdout.push(output);
          stdout.push(null);
          resolve(exitCode);
        };
        signal.addEventListener('abort', () => {
          stdout.destroy();
          reject(signal.reason);
        });
      });
      return { stdin: undefined, stdout, stderr: undefined, resize: async () => {}, ended };
    };
    hooks = new HookRunner({
      clock,
      log: silentLogger,
      events: { record: (_pod, type, reason, message, name) => events.push(`${type} ${reason} ${name}: ${message}`) },
      access: { exec },
      podIp: async () => '127.0.0.1',
      userAgent: 'kube-lifecycle/1.36',
    });
    stopped = hooks.run(stop.signal);
  });
  afterEach(async () => {
    stop.abort();
    await stopped;
    await clock.advance(0);
    assert.equal(clock.actions.length, 0, 'no timer is left');
  });

  const withHooks = (lifecycle: NonNullable<Container['lifecycle']>, over: Partial<Pod['spec']> = {}): [Pod, Container] => {
    const container = aContainer('app', { lifecycle, ports: [{ name: 'web', containerPort: 80 }] });
    return [aPod('web', { ...over, containers: [container] }), container];
  };

  test('preStop takes its time off the grace period', async () => {
    const left = hooks.preStop(...withHooks({ preStop: command }), ID, 30_000, never);
    await clock.advance(7_500);
    end(0);
    assert.equal(await left, 23_000);
    assert.deepEqual(ran, [['do', 'it']]);
    assert.deepEqual(events, []);
  });

  test('preStop has the whole grace period and leaves 2 s', async () => {
    const left = hooks.preStop(...withHooks({ preStop: command }), ID, 10_000, never);
    await clock.advance(10_000);
    assert.equal(await left, 2_000);
    hooks.ended(ID);
  });

  test('preStop that fails is told, and the stop goes on', async () => {
    const left = hooks.preStop(...withHooks({ preStop: command }), ID, 10_000, never);
    await clock.advance(0);
    end(3, 'oh');
    assert.equal(await left, 10_000);
    assert.deepEqual(events, [
      // What the hook runs and says may be secret: the log has it.
      'Warning FailedPreStopHook app: PreStopHook failed',
    ]);
  });

  test('preStop runs once, also when the stop is interrupted and asked for again with less grace', async () => {
    const interrupted = new AbortController();
    const first = hooks.preStop(...withHooks({ preStop: command }), ID, 30_000, interrupted.signal);
    await clock.advance(1_000);
    interrupted.abort(new Error('less grace'));
    await assert.rejects(first, /less grace/);
    const second = hooks.preStop(...withHooks({ preStop: command }), ID, 5_000, never);
    await clock.advance(5_000);
    assert.equal(await second, 2_000);
    assert.equal(await hooks.preStop(...withHooks({ preStop: command }), ID, 2_000, never), 2_000);
    assert.equal(ran.length, 1);
    hooks.forget(withHooks({})[0].metadata.uid);
  });

  for (const [name, lifecycle, over, graceMs] of [
    ['no hook', {}, {}, 30_000],
    ['a pod that is deleted at once', { preStop: command }, { terminationGracePeriodSeconds: 0 }, 2_000],
    ['no time', { preStop: command }, {}, 0],
  ] as const)
    test(`with ${name} nothing runs before the stop`, async () => {
      assert.equal(await hooks.preStop(...withHooks(lifecycle, over), ID, graceMs, never), graceMs);
      assert.deepEqual(ran, []);
    });

  test('sleep is a hook', async () => {
    const left = hooks.preStop(...withHooks({ preStop: { sleep: { seconds: 4 } } }), ID, 10_000, never);
    await clock.advance(4_000);
    assert.equal(await left, 6_000);
  });

  test('postStart that fails calls for the end of its container before it resolves', async () => {
    const told: string[] = [];
    const why = hooks.postStart(...withHooks({ postStart: command }), ID, never, async (message) => void told.push(message));
    await clock.advance(0);
    end(1);
    assert.match((await why) ?? '', /^Exec lifecycle hook .* error: command 'do it' exited with 1: , message: ""$/);
    assert.equal(told.length, 1);
  });

  test('postStart goes on when nobody waits for it any more, and so does what follows', async () => {
    const interrupted = new AbortController();
    const told: string[] = [];
    const why = hooks.postStart(...withHooks({ postStart: command }), ID, interrupted.signal, async (message) => void told.push(message));
    await clock.advance(0);
    interrupted.abort(new Error('edited'));
    await assert.rejects(why, /edited/);
    end(1);
    await clock.advance(0);
    assert.equal(told.length, 1);
  });

  test('postStart that works resolves with nothing, as does none', async () => {
    const failed = async (): Promise<void> => assert.fail('nothing has failed');
    assert.equal(await hooks.postStart(...withHooks({}), ID, never, failed), undefined);
    const why = hooks.postStart(...withHooks({ postStart: command }), ID, never, failed);
    await clock.advance(0);
    end(0);
    assert.equal(await why, undefined);
  });

  test('a hook over HTTP is fine with any answer, and names itself', async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer(({ url, headers }, answer) => {
      seen.push(url, headers['user-agent'], String(headers['x-why']));
      answer.writeHead(500).end();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    try {
      const { port } = server.address() as AddressInfo;
      for (const scheme of ['HTTP', 'HTTPS']) {
        const httpGet = { port, path: '/bye', scheme, httpHeaders: [{ name: 'X-Why', value: 'end' }] };
        assert.equal(await hooks.preStop(...withHooks({ preStop: { httpGet } }), scheme as ContainerId, 10_000, never), 10_000);
      }
      assert.deepEqual(seen, ['/bye', 'kube-lifecycle/1.36', 'end', '/bye', 'kube-lifecycle/1.36', 'end']);
      assert.deepEqual(events, []);
      assert.equal(await hooks.preStop(...withHooks({ preStop: { tcpSocket: { port } } }), ID, 10_000, never), 10_000);
      assert.deepEqual(events, []);
    } finally {
      await new Promise((closed) => server.close(closed));
    }
  });

  test('a hook whose port has no such name fails and says so', async () => {
    const why = await hooks.postStart(...withHooks({ postStart: { httpGet: { port: 'nope', path: '/x' } } }), ID, never, async () => {});
    assert.match(why ?? '', /Http lifecycle hook \(\/x\) .* failed - error: strconv\.Atoi: parsing "nope": invalid syntax, message: ""$/);
  });
});
