import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedOptions } from '../../../src/configuration/changed-options.ts';
import { someOptions } from '../../builders/some-options.ts';

const started = someOptions({ syncFrequencyMs: 60_000, maxPods: 110, clusterDomain: 'a.local' });

test('what counts at once is applied, and the rest named by its field', () => {
  const { changes, live } = changedOptions(started, started, { ...started, maxPods: 5, clusterDomain: 'b.local' });
  assert.deepEqual(
    changes.map(({ takesEffect, text }) => `${text}, ${takesEffect}`),
    ['maxPods: 110 → 5, at once', 'clusterDomain: a.local → b.local, after a restart'],
  );
  assert.equal(live.maxPods, 5);
  assert.equal(live.syncFrequencyMs, 60_000);
});

test('what is the same is nothing new, and stays the same object', () => {
  const { changes, live } = changedOptions(started, started, { ...started, evictionHard: { ...started.evictionHard } });
  assert.deepEqual(changes, []);
  assert.equal(live.evictionHard, started.evictionHard);
});

test('what was applied is compared with what is in force, not with the start', () => {
  const { live } = changedOptions(started, started, { ...started, maxPods: 5 });
  assert.deepEqual(changedOptions(started, live, { ...started, maxPods: 5 }).changes, []);
  assert.equal(changedOptions(started, live, started).live.maxPods, 110);
});

test('of what may hold credentials only the field is shown, and of long values the beginning', () => {
  const next = { ...started, manifestUrlHeader: { Authorization: ['secret'] }, clusterDomain: 'x'.repeat(1000) };
  const texts = changedOptions(started, started, next).changes.map(({ text }) => text);
  assert.equal(texts[0], 'staticPodURLHeader');
  assert.equal(texts.join().includes('secret'), false);
  assert.ok((texts[1]?.length ?? 0) < 200);
});
