import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type MeasuredPod, rankPods } from '../../../src/eviction/rank-pods.ts';
import { signals } from '../../../src/model/eviction/threshold.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import { aPodThat } from '../../builders/pods-that.ts';

const MI = 1024 * 1024;
const uses = (name: string, workingSetMi: number | undefined, priority = 0): MeasuredPod => ({
  pod: aPodThat(name, { priority }),
  usage:
    workingSetMi === undefined
      ? undefined
      : {
          uid: name as PodUid,
          name,
          namespace: 'default',
          startedAtMs: 0,
          containers: [],
          volumes: [],
          memory: { atMs: 0, usageBytes: 0, workingSetBytes: workingSetMi * MI, rssBytes: 0, pageFaults: 0, majorPageFaults: 0 },
        },
});
const names = (pods: readonly MeasuredPod[]): readonly string[] => pods.map(({ pod }) => pod.metadata.name);
const oneDisk = { imageFs: false, splitFs: false };

test('pods that are ranked alike keep their order, so that a look repeated ends the same pod', () => {
  const pods = [uses('a', 5), uses('b', 5), uses('c', 5)];
  assert.deepEqual(names(rankPods(pods, 'memory.available', oneDisk)), ['a', 'b', 'c']);
});

test('of pods that are not measured the priority decides, and each goes before all that are', () => {
  const pods = [uses('large', 900, -5), uses('unknown-high', undefined, 10), uses('unknown-low', undefined, 1)];
  assert.deepEqual(names(rankPods(pods, 'memory.available', oneDisk)), ['unknown-low', 'unknown-high', 'large']);
});

test('a ranking has each pod once, and is the same whatever order the pods came in', () => {
  const pod = fc.record({ workingSetMi: fc.option(fc.nat(4), { nil: undefined }), priority: fc.integer({ min: -1, max: 1 }) });
  const layout = fc.record({ imageFs: fc.boolean(), splitFs: fc.boolean() });
  fc.assert(
    fc.property(fc.array(pod, { maxLength: 12 }), fc.constantFrom(...signals), layout, (specs, signal, on) => {
      const pods = specs.map(({ workingSetMi, priority }, index) => uses(`p${index}`, workingSetMi, priority));
      const kinds = (ranked: readonly MeasuredPod[]): unknown =>
        ranked.map(({ pod: { spec }, usage }) => [
          spec.priority,
          signal.startsWith('m') ? usage?.memory?.workingSetBytes : usage === undefined,
        ]);
      const ranked = rankPods(pods, signal, on);
      assert.deepEqual(names(ranked).toSorted(), names(pods).toSorted());
      if (signal === 'memory.available') assert.deepEqual(kinds(rankPods(pods.toReversed(), signal, on)), kinds(ranked));
    }),
  );
});
