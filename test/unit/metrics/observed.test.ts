import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EMPTY } from 'rxjs';
import type { PodUid } from '../../../src/model/pod.ts';
import { observedImages, observedRuntime } from '../../../src/metrics/runtime-operations.ts';
import { countedTrace } from '../../../src/metrics/trace-metrics.ts';
import type { ContainerId, ContainerRuntime } from '../../../src/ports/container-runtime.ts';
import type { ImageService } from '../../../src/ports/image-service.ts';
import type { ReconcileRecord } from '../../../src/ports/pod-plan.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const never = new AbortController().signal;

const unasked = (): Promise<never> => Promise.reject(new Error('not asked for'));
const runtime: ContainerRuntime = {
  hints: EMPTY,
  info: unasked,
  listPods: () => Promise.resolve([]),
  observePod: unasked,
  runSandbox: unasked,
  createContainer: unasked,
  startContainer: unasked,
  stopContainer: unasked,
  removeContainer: unasked,
  stopSandbox: unasked,
  removeSandbox: unasked,
};
const images: ImageService = { inspectImage: unasked, listImages: () => Promise.resolve([]), pullImage: unasked };

describe('each call is counted by its name, with its time', () => {
  const setUp = () => {
    const clock = new FakeClock();
    const told: unknown[] = [];
    const onOperation = (type: string, seconds: number, failed: boolean): void => void told.push([type, seconds, failed]);
    return { clock, told, onOperation };
  };

  test('whether it works or not', async () => {
    const { clock, told, onOperation } = setUp();
    const slow: ContainerRuntime = { ...runtime, listPods: () => clock.sleep(2000).then(() => []) };
    const counted = observedRuntime(slow, clock, onOperation);
    const listed = counted.listPods(never);
    await clock.advance(2000);
    assert.deepEqual(await listed, []);
    await assert.rejects(counted.removeContainer('none' as ContainerId, never), /^Error: not asked for$/);
    assert.equal(counted.hints, slow.hints);
    assert.deepEqual(told, [
      ['list_containers', 2, false],
      ['remove_container', 0, true],
    ]);
  });

  test('of images, too', async () => {
    const { clock, told, onOperation } = setUp();
    const counted = observedImages(images, clock, onOperation);
    assert.deepEqual(await counted.listImages(never), []);
    await assert.rejects(counted.inspectImage('a', never));
    assert.deepEqual(told, [
      ['list_images', 0, false],
      ['image_status', 0, true],
    ]);
  });
});

describe('reconcile records', () => {
  const uid = 'u' as PodUid;
  const base: ReconcileRecord = {
    uid,
    pod: 'd/p',
    atMs: 1000,
    wakes: ['pod added'],
    life: 'syncing',
    plan: { actions: [], next: 'on-change', because: [] },
    outcomes: [],
    observeMs: 1,
    totalMs: 500,
    phase: 'Pending',
    next: { afterMs: 1000 },
  };
  const setUp = () => {
    const told: unknown[][] = [];
    const passed: ReconcileRecord[] = [];
    const tell =
      (name: string) =>
      (...args: unknown[]): void =>
        void told.push([name, ...args]);
    const trace = countedTrace(
      { record: (record) => passed.push(record), note: tell('note') },
      {
        podWorked: tell('worked'),
        podStarted: tell('started'),
        podWorkerStarted: tell('worker'),
        sandboxStarted: tell('sandbox'),
        containerStarted: tell('container'),
      },
    );
    return { told, passed, trace };
  };

  test('tell a pod’s way from its first run to Running', () => {
    const { told, passed, trace } = setUp();
    const sandbox = { action: { do: 'runSandbox', attempt: 0 }, tookMs: 200 } as const;
    const app = { action: { do: 'startContainer', name: 'app', attempt: 0, init: false }, tookMs: 100, error: 'no image' } as const;
    const first = { ...base, outcomes: [sandbox, app] };
    trace.record(first);
    trace.record({ ...base, atMs: 3000, wakes: ['pod updated'], phase: 'Running' });
    trace.record({ ...base, atMs: 9000, wakes: ['relist'], phase: 'Running' });
    assert.deepEqual(told, [
      ['worked', 'create', 0.5],
      ['sandbox', 0.2, false],
      ['worker', 0],
      ['container', 'container', true],
      ['worked', 'update', 0.5],
      ['started', 2.5],
      ['worked', 'sync', 0.5],
    ]);
    assert.equal(passed[0], first);
  });

  test('of a pod that ran before the agent did tell no start', () => {
    const { told, trace } = setUp();
    trace.record({ ...base, phase: 'Running' });
    assert.deepEqual(told, [['worked', 'create', 0.5]]);
  });

  test('of a pod that has ended let it be new the next time', () => {
    const { told, trace } = setUp();
    trace.record(base);
    trace.record({ ...base, life: 'terminating', next: 'on-change' });
    trace.record(base);
    assert.deepEqual(
      told.map(([, operation]) => operation),
      ['create', 'kill', 'create'],
    );
  });

  test('pass notes on', () => {
    const { told, trace } = setUp();
    trace.note(uid, 'pulling', { bytes: 1 });
    assert.deepEqual(told, [['note', uid, 'pulling', { bytes: 1 }]]);
  });
});
