import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { MAX_MANIFEST_BYTES } from '../../../src/sources/max-manifest-bytes.ts';
import { manifestReader } from '../../../src/sources/read-manifest.ts';
import { staticPodReader } from '../../../src/sources/read-static-pods.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const options = { source: 'http', nodeName: 'n1' } as const;
const pod = (i: number): string => `- metadata:\n    name: pod-${i}\n  spec:\n    containers:\n    - {name: app, image: "busybox:1.35"}\n`;
const head = 'apiVersion: v1\nkind: PodList\nitems:\n';
const podList = (pods: number): Buffer => Buffer.from(head + Array.from({ length: pods }, (_, i) => pod(i)).join(''));

test('a large manifest is read as a small one is', async () => {
  const manifest = podList(3_000);
  const read = manifestReader(options, systemClock);
  const found = await read(manifest);
  assert.equal(found.pods.length, 3_000);
  assert.deepEqual(found, staticPodReader(options)(manifest));
  assert.deepEqual(await read(podList(3)), staticPodReader(options)(podList(3)));
});

test('while 10 MiB of YAML are read everything else goes on', async () => {
  const large = (i: number): string => pod(i).replace('name: pod', `annotations: {text: "${'x'.repeat(1_900)}"}\n    name: pod`);
  const count = Math.floor((MAX_MANIFEST_BYTES - head.length) / large(10_000).length);
  const manifest = Buffer.from(head + Array.from({ length: count }, (_, i) => large(i)).join(''));
  const delay = monitorEventLoopDelay({ resolution: 10 });
  const beganAt = performance.now();
  delay.enable();
  const found = await manifestReader(options, systemClock)(manifest);
  delay.disable();
  const tookMs = performance.now() - beganAt;
  assert.deepEqual([found.pods.length, found.faults], [count, []]);
  // Read in this thread, all of it would be one break.
  const longestMs = delay.max / 1e6;
  assert.ok(longestMs < tookMs / 3, `nothing else could run for ${longestMs.toFixed()} of ${tookMs.toFixed()} ms`);
});

test('a manifest that takes too long is refused, and what is wrong is said', async () => {
  const clock = new FakeClock();
  const reading = manifestReader(options, clock)(podList(20_000));
  await clock.advance(120_000);
  const { pods, faults } = await reading;
  assert.deepEqual(pods, []);
  assert.deepEqual(
    faults.map(({ type, detail }) => `${type}: ${detail}`),
    ['unreadable: reading it took longer than 120 s'],
  );
});
