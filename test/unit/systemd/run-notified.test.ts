import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subject } from 'rxjs';
import { aborted } from '../../../src/base/aborted.ts';
import { LiveValue } from '../../../src/base/live.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { DesiredPods } from '../../../src/agent/mux/desired-pods.ts';
import type { PodUpdate } from '../../../src/model/pod-update.ts';
import type { LiveOptions } from '../../../src/options/kubelet-options.ts';
import { runNotified } from '../../../src/systemd/run-notified.ts';
import { aPod } from '../../builders/a-pod.ts';
import { someOptions } from '../../builders/some-options.ts';
import { nothingGiven } from '../../builders/node-parts.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { notifyProgram } from '../../fakes/notify-program.ts';

test('the agent is ready once it serves, says how it is, and that it stops', async (t) => {
  const { path: program, sent } = notifyProgram(t);
  const [clock, stop, updates, pods] = [new FakeClock(), new AbortController(), new Subject<PodUpdate>(), new DesiredPods()];
  const live = new LiveValue<LiveOptions>(someOptions());
  pods.expect(['file', 'api']);
  const serving = Promise.withResolvers<void>();
  const until = async (text: string, stepMs = 10): Promise<void> => {
    while (!sent().some((line) => line.includes(text))) await clock.advance(stepMs);
  };
  const agent = runNotified(
    async (announcing) => {
      await serving.promise;
      const services = announcing({ pods, updates, live });
      assert.deepEqual(
        services.map(({ stage }) => stage),
        ['announcements'],
      );
      await Promise.all(services.map(async (service) => service.run(stop.signal, nothingGiven)));
      return 3;
    },
    { clock, log: silentLogger, manager: { socket: '@n', watchdogMs: undefined }, privileged: true, program },
    stop.signal,
  );
  await until('STATUS=starting');
  assert.ok(!sent().some((line) => line.includes('READY')));
  serving.resolve();
  await until('READY=1');
  await until('STATUS=serving; pods: 0; not all of their sources have been read yet');
  const update = (source: 'file' | 'api', ...of: ReturnType<typeof aPod>[]): void => {
    const each: PodUpdate = { op: 'ADD', source, pods: of };
    pods.apply(each);
    updates.next(each);
  };
  update('file', aPod('web'));
  update('api');
  await until('STATUS=serving; pods: 1|');
  live.set({ ...live.now, maxPods: 7 });
  await until('RELOADING=1|MONOTONIC_USEC=');
  const reloading = sent().findIndex((line) => line.includes('RELOADING=1'));
  while (sent().length < reloading + 2) await clock.advance(10);
  assert.match(sent()[reloading + 1] ?? '', /READY=1/);
  stop.abort();
  // The program takes real time, and the agent waits for it by its own clock.
  await until('STOPPING=1', 0);
  assert.equal(await clock.until(agent), 3);
  assert.match(sent().at(-1) ?? '', /STOPPING=1/);
  assert.ok(!sent().some((line) => line.includes('WATCHDOG')));
});

test('an agent that fails says that it stops, and its failure comes through', async (t) => {
  const { path: program, sent } = notifyProgram(t);
  const deps = { clock: systemClock, log: silentLogger, manager: { socket: '@n', watchdogMs: undefined }, privileged: true, program };
  const failing = async (): Promise<never> => {
    throw new Error('port in use');
  };
  await assert.rejects(runNotified(failing, deps, new AbortController().signal), /port in use/);
  assert.match(sent().at(-1) ?? '', /STOPPING=1.*stopped; the log says why/);
});

test('the watchdog is kept at half of its time from the start on, and not while the main loop is blocked', async (t) => {
  const { path: program, sent } = notifyProgram(t);
  const stop = new AbortController();
  const pings = (): number => sent().filter((line) => line.includes('WATCHDOG=1')).length;
  const morePings = async (): Promise<void> => {
    for (const before = pings(); pings() < before + 2;) await systemClock.sleep(5);
  };
  const deps = { clock: systemClock, log: silentLogger, manager: { socket: '@n', watchdogMs: 200 }, privileged: true, program };
  const agent = runNotified(() => aborted(stop.signal), deps, stop.signal);
  await morePings();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  const before = pings();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  assert.equal(pings(), before);
  await morePings();
  stop.abort();
  await agent;
});
