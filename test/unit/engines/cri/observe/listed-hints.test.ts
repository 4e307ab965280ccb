import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedHints } from '../../../../../src/engines/cri/observe/listed-hints.ts';
import type { PodUid } from '../../../../../src/model/pod.ts';
import type { PodSummary } from '../../../../../src/ports/container-runtime.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';

const pod = (uid: string, ...phases: readonly PodSummary['parts'][number]['phase'][]): PodSummary => ({
  uid: uid as PodUid,
  name: uid,
  namespace: 'default',
  parts: phases.map((phase, n) => ({ id: `${uid}-${n}`, container: `c${n}`, phase })),
});

/** `listings`: an answer a second; the last one goes on. */
function hinting(...listings: readonly (readonly PodSummary[] | Error)[]) {
  const clock = new FakeClock();
  let asked = 0;
  const hints = listedHints({
    clock,
    listPods: async (signal) => {
      signal.throwIfAborted();
      const listing = listings[Math.min(asked++, listings.length - 1)] ?? [];
      if (listing instanceof Error) throw listing;
      return listing;
    },
  });
  return { clock, hints, asked: () => asked };
}

test('a pod is hinted at when a part comes, changes or goes, within a second, and no other pod is', async () => {
  const still = pod('still', 'running');
  const { clock, hints, asked } = hinting(
    [still],
    [still, pod('a', 'created')],
    [still, pod('a', 'running')],
    [still, pod('a', 'running')],
    [still],
  );
  const seen: string[] = [];
  const subscription = hints.subscribe((uid) => seen.push(`${clock.monotonicMs()} ${uid}`));
  await clock.advance(6_000);
  assert.deepEqual(seen, ['1000 a', '2000 a', '4000 a']);
  subscription.unsubscribe();
  await clock.advance(60_000);
  assert.deepEqual([asked(), clock.actions.length], [7, 0]);
});

test('a listing that fails says nothing, and loses nothing', async () => {
  const { clock, hints } = hinting([pod('a', 'running')], new Error('gone'), new Error('gone'), [pod('a', 'exited')]);
  const seen: string[] = [];
  const subscription = hints.subscribe((uid) => seen.push(uid));
  await clock.advance(10_000);
  assert.deepEqual(seen, ['a']);
  subscription.unsubscribe();
});

test('several who subscribe share one listing', async () => {
  const { clock, hints, asked } = hinting([], [pod('a', 'running')]);
  const seen: string[] = [];
  const all = [1, 2, 3].map((n) => hints.subscribe((uid) => seen.push(`${n} ${uid}`)));
  await clock.advance(1_500);
  assert.deepEqual([seen, asked()], [['1 a', '2 a', '3 a'], 2]);
  for (const each of all) each.unsubscribe();
});
