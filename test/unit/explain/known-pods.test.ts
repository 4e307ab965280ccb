import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KnownPods, type KnownPodsDeps } from '../../../src/explain/known-pods.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import type { HappeningKinds } from '../../../src/ports/happenings.ts';
import type { ReconcileRecord } from '../../../src/ports/pod-plan.ts';
import { aPod } from '../../builders/a-pod.ts';
import { aRecord } from '../../builders/a-record.ts';

const HOUR_MS = 3_600_000;

/** What is known, on a clock that is set, with these pods declared. */
function knownPods(...declared: readonly string[]) {
  return knowing({ remembersGone: true }, ...declared);
}

function knowing({ remembersGone }: Pick<KnownPodsDeps, 'remembersGone'>, ...declared: readonly string[]) {
  const names = new Set(declared);
  let nowMs = 1_000_000;
  const known = new KnownPods({
    clock: { now: () => nowMs },
    pods: { get: (uid) => (names.has(uid) ? { pod: aPod(uid, {}, { uid }), source: 'file' } : undefined) },
    remembersGone,
  });
  const tell = <K extends keyof HappeningKinds>(kind: K, what: HappeningKinds[K]): void => known.listener[kind]?.(what);
  return { known, tell, names, pass: (ms: number) => void (nowMs += ms), get: (uid: string) => known.get(uid as PodUid) };
}

const recordOf = (uid: string, over: Partial<ReconcileRecord> = {}): ReconcileRecord =>
  aRecord({ uid: uid as PodUid, pod: `default/${uid}`, ...over });

test('what has happened to a pod is remembered for an hour after its end', () => {
  const { tell, names, pass, get } = knownPods('web');
  tell('reconciled', recordOf('web'));
  names.delete('web');
  tell('podEnded', { uid: 'web' as PodUid, freeName: undefined });
  pass(HOUR_MS);
  assert.equal(get('web')?.pod, 'default/web');
  pass(1);
  assert.equal(get('web'), undefined);
});

test('where nothing of the past is kept, a pod that is gone is forgotten', () => {
  const { tell, names, get } = knowing({ remembersGone: false }, 'web');
  tell('reconciled', recordOf('web'));
  names.delete('web');
  tell('podEnded', { uid: 'web' as PodUid, freeName: undefined });
  tell('reconciled', recordOf('web', { life: 'terminated' }));
  assert.equal(get('web'), undefined);
});

const released: ReconcileRecord['outcomes'] = [{ action: { do: 'release' }, tookMs: 1 }];

test('where nothing of the past is kept, the record of its end brings no pod back', () => {
  const { known, tell, names } = knowing({ remembersGone: false }, 'web');
  tell('reconciled', recordOf('web'));
  names.delete('web');
  tell('podEnded', { uid: 'web' as PodUid, freeName: undefined });
  tell('reconciled', recordOf('web', { life: 'terminating', phase: undefined, outcomes: released }));
  assert.deepEqual(known.uids(), []);
});

test('what nobody declared, and ended in one look, is gone and not here for ever', () => {
  const { known, tell, pass, get } = knownPods();
  tell('podEnded', { uid: 'orphan' as PodUid, freeName: undefined });
  tell('reconciled', recordOf('orphan', { life: 'terminating', phase: undefined, outcomes: released }));
  assert.ok(get('orphan')?.goneAtMs);
  pass(HOUR_MS + 1);
  assert.deepEqual(known.uids(), []);
});

test('what is still ending is here', () => {
  const { tell, get } = knownPods();
  const stopped: ReconcileRecord['outcomes'] = [{ action: { do: 'release' }, tookMs: 1, error: 'busy' }];
  tell('reconciled', recordOf('orphan', { life: 'terminating', outcomes: stopped, failed: 'busy' }));
  assert.equal(get('orphan')?.pod, 'default/orphan');
  assert.equal(get('orphan')?.goneAtMs, undefined);
});

test('a pod that ended while it was declared is gone once it is not', () => {
  const { tell, names, pass, get } = knownPods('web');
  tell('podEnded', { uid: 'web' as PodUid, freeName: undefined });
  tell('reconciled', recordOf('web', { life: 'terminated', phase: 'Succeeded' }));
  assert.equal(get('web')?.goneAtMs, undefined);
  names.delete('web');
  tell('reconciled', recordOf('web', { life: 'terminated', phase: undefined }));
  pass(HOUR_MS);
  assert.ok(get('web')?.goneAtMs);
  pass(1);
  assert.equal(get('web'), undefined);
});

test('a pod that comes back under its uid is not gone', () => {
  const { tell, names, pass, get } = knownPods('web');
  tell('reconciled', recordOf('web'));
  names.delete('web');
  tell('podEnded', { uid: 'web' as PodUid, freeName: undefined });
  names.add('web');
  tell('reconciled', recordOf('web'));
  pass(2 * HOUR_MS);
  assert.equal(get('web')?.goneAtMs, undefined);
  assert.equal(get('web')?.pod, 'default/web');
});

test('of pods that are gone the last 500 are remembered, and of all pods 2,000', () => {
  const { known, tell } = knownPods();
  for (let i = 0; i < 3_000; i++) {
    tell('reconciled', recordOf(`gone-${i}`));
    tell('podEnded', { uid: `gone-${i}` as PodUid, freeName: undefined });
  }
  assert.equal(known.uids().length, 500);
  assert.equal(known.uids().at(-1), 'gone-2999');
  for (let i = 0; i < 3_000; i++) tell('reconciled', recordOf(`here-${i}`));
  assert.equal(known.uids().length, 2_000);
});

test('of one pod the last 20 events, the last five results of each probe, and so much of each text are remembered', () => {
  const { tell, get } = knownPods('web');
  const uid = 'web' as PodUid;
  for (let i = 0; i < 30; i++) {
    tell('eventRecorded', {
      uid,
      object: 'default/web',
      container: 'app',
      type: 'Warning',
      reason: 'Failed',
      message: `${i} ${'x'.repeat(5_000)}`,
    });
    tell('probeTried', { uid, container: 'app', kind: 'liveness', atMs: i, tookMs: 1, outcome: 'failure', message: 'y'.repeat(5_000) });
  }
  const seen = get('web');
  assert.equal(seen?.events.length, 20);
  assert.ok(seen.events.every(({ message }) => message.length <= 1_001));
  assert.deepEqual(
    seen.probes.get('app liveness')?.map(({ atMs }) => atMs),
    [25, 26, 27, 28, 29],
  );
  assert.ok(seen.probes.get('app liveness')?.every(({ message }) => message.length <= 1_001));
});

test('an event that comes again is counted', () => {
  const { tell, get, pass } = knownPods('web');
  const event = { uid: 'web', object: 'default/web', container: undefined, type: 'Warning', reason: 'BackOff', message: 'again' } as const;
  for (let i = 0; i < 7; i++) {
    pass(1_000);
    tell('eventRecorded', event);
  }
  assert.deepEqual(
    get('web')?.events.map(({ times, message, atMs }) => ({ times, message, atMs })),
    [{ times: 7, message: 'again', atMs: 1_007_000 }],
  );
});

test('what is told of pods that are not here is not remembered', () => {
  const { known, tell } = knownPods();
  tell('eventRecorded', {
    uid: 'elsewhere',
    object: 'default/elsewhere',
    container: undefined,
    type: 'Normal',
    reason: 'Started',
    message: '',
  });
  tell('imagePulling', { uid: 'elsewhere' as PodUid, container: 'app', image: 'i', stage: 'begun' });
  assert.deepEqual(known.uids(), []);
});

test('a step is under way until the record of its run', () => {
  const { tell, get } = knownPods('web');
  tell('stepBegun', { uid: 'web' as PodUid, life: 'syncing', action: { do: 'prepare' }, because: [] });
  assert.equal(get('web')?.step?.action.do, 'prepare');
  tell('reconciled', recordOf('web'));
  assert.equal(get('web')?.step, undefined);
});

test('no half of a password is left where a long text is cut', () => {
  const { tell, get } = knownPods('web');
  const message = `${'x'.repeat(985)} https://ann:hunter2hunter2@registry/ and more`;
  tell('eventRecorded', { uid: 'web', object: 'default/web', container: 'app', type: 'Warning', reason: 'Failed', message });
  assert.doesNotMatch(get('web')?.events[0]?.message ?? 'hunter2', /hunter/);
});
