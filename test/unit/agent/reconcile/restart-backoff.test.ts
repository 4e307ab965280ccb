import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestartBackoff } from '../../../../src/agent/reconcile/restart-backoff.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { anInstance, anObservedPod, exited } from '../../../builders/an-observed-pod.ts';

const pod = aPod('web');
const app = aContainer('app');
const endedAt = (atMs: number) => anObservedPod(pod, { containers: [anInstance(pod, 'app', { state: exited(1, atMs) })] });

/** Sees whatever it is asked about. */
class Asked extends RestartBackoff {
  constructor(nowMs: () => number) {
    super({ now: nowMs, monotonicMs: nowMs });
  }
  override hold(...[of, container, observed]: Parameters<RestartBackoff['hold']>): ReturnType<RestartBackoff['hold']> {
    this.seen(observed);
    return super.hold(of, container, observed);
  }
  override started(...[of, container, observed]: Parameters<RestartBackoff['started']>): void {
    this.seen(observed);
    super.started(of, container, observed);
  }
}

test('asking when to restart changes nothing; only starts lengthen the delay', () => {
  let nowMs = 0;
  const backoff = new Asked(() => nowMs);
  backoff.started(pod, app, endedAt(0));
  nowMs = 1000;
  for (let i = 0; i < 5; i++) assert.equal(backoff.hold(pod, app, endedAt(1000))?.notBeforeMs, 11_000);
  assert.equal(backoff.message(pod, app), 'back-off 10s restarting failed container=app pod=web_default(uid-web)');
  backoff.started(pod, app, endedAt(1000));
  assert.equal(backoff.hold(pod, app, endedAt(1000))?.notBeforeMs, 21_000);
});

test('delays double up to five minutes, in the words of Go', () => {
  const backoff = new Asked(() => 0);
  const delays = Array.from({ length: 7 }, () => {
    backoff.started(pod, app, endedAt(0));
    return backoff.message(pod, app).split(' ')[1];
  });
  assert.deepEqual(delays, ['10s', '20s', '40s', '1m20s', '2m40s', '5m0s', '5m0s']);
});

test('the longest delay is the one that is given, and the first is not longer', () => {
  for (const [maxMs, delays] of [
    [1000, ['1s', '1s', '1s']],
    [15_000, ['10s', '15s', '15s']],
  ] as const) {
    const backoff = new RestartBackoff({ now: () => 0, monotonicMs: () => 0 }, { firstMs: 10_000, maxMs });
    backoff.seen(endedAt(0));
    const seen = delays.map(() => {
      backoff.started(pod, app, endedAt(0));
      return backoff.message(pod, app).split(' ')[1];
    });
    assert.deepEqual(seen, delays);
  }
});

test('what has been quiet for more than ten minutes is forgotten when garbage is collected', () => {
  let nowMs = 0;
  const backoff = new Asked(() => nowMs);
  const old = aContainer('app', { image: 'old' });
  backoff.started(pod, old, endedAt(0));
  for (const [atMs, delayMs] of [
    [600_000, 10_000],
    [600_001, 0],
  ] as const) {
    nowMs = atMs;
    backoff.gc(pod.metadata.uid);
    assert.equal(backoff.delayMs(pod, old), delayMs);
  }
});

test('a container that never ended is never held', () => {
  const backoff = new Asked(() => 0);
  backoff.started(pod, app, anObservedPod(pod));
  assert.equal(backoff.hold(pod, app, anObservedPod(pod))?.notBeforeMs, undefined);
  assert.equal(backoff.hold(pod, app, endedAt(0))?.notBeforeMs, undefined);
});

test('a changed spec and a forgotten pod start over', () => {
  const backoff = new Asked(() => 0);
  backoff.started(pod, app, endedAt(0));
  assert.equal(backoff.hold(pod, aContainer('app', { image: 'other' }), endedAt(0))?.notBeforeMs, undefined);
  backoff.forget(pod.metadata.uid);
  assert.equal(backoff.hold(pod, app, endedAt(0))?.notBeforeMs, undefined);
});

test('what ran well for more than ten minutes starts over', () => {
  for (const [endedAtMs, delay] of [
    [600_000, '20s'],
    [600_001, '10s'],
  ] as const) {
    let nowMs = 0;
    const backoff = new Asked(() => nowMs);
    backoff.started(pod, app, endedAt(0));
    nowMs = endedAtMs;
    backoff.started(pod, app, endedAt(endedAtMs));
    assert.equal(backoff.message(pod, app).split(' ')[1], delay);
  }
});

test('other resources deserve a new try at once, another command does not', () => {
  let nowMs = 0;
  const backoff = new Asked(() => nowMs);
  backoff.started(pod, app, endedAt(0));
  nowMs = 1000;
  assert.equal(backoff.hold(pod, { ...app, resources: { limits: { memory: '1Gi' } } }, endedAt(0)), undefined);
  assert.equal(backoff.hold(pod, { ...app, command: ['true'] }, endedAt(0))?.delayMs, 10_000);
});

test('the first delay is no longer than the longest', () => {
  const backoff = new RestartBackoff({ now: () => 0, monotonicMs: () => 0 }, { firstMs: 10_000, maxMs: 2000 });
  backoff.seen(endedAt(0));
  backoff.started(pod, app, endedAt(0));
  assert.equal(backoff.delayMs(pod, app), 2000);
});
