import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subject } from 'rxjs';
import { silentLogger } from '../../../../src/base/logger.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import type { PodUpdate } from '../../../../src/model/pod-update.ts';
import { DesiredPods } from '../../../../src/agent/mux/desired-pods.ts';
import { PodConfig } from '../../../../src/agent/mux/pod-config.ts';
import { podUpdates } from '../../../../src/agent/mux/pod-updates.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';

const web = aPod('web');
const changed = aPod('web', { containers: [aContainer('app', { image: 'busybox:2' })] });
const deleted: Pod = { ...web, metadata: { ...web.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };

function setUp() {
  const config = new PodConfig({ mode: 'Incremental', clock: { now: () => 0 }, events: { record: () => {} }, log: silentLogger });
  const file = new Subject<readonly Pod[]>();
  const http = new Subject<readonly Pod[]>();
  const pods = new DesiredPods();
  pods.expect(['file', 'http']);
  const seen: string[] = [];
  const wakes: string[] = [];
  const subscription = podUpdates(config, [
    { name: 'file', snapshots: file },
    { name: 'http', snapshots: http },
  ]).subscribe((update: PodUpdate) => {
    seen.push(`${update.op} ${update.source} ${update.pods.map((pod) => pod.metadata.name).join(',')}`.trim());
    wakes.push(...pods.apply(update).map(({ uid, reason }) => `${uid}: ${reason}`));
  });
  return { config, file, http, pods, seen, wakes, subscription };
}

test('an update has the generation that it was given', () => {
  const { file, pods, subscription } = setUp();
  const at = (generation: number, pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, generation } });
  file.next([at(1, web)]);
  file.next([at(2, changed)]);
  assert.equal(pods.get(web.metadata.uid)?.pod.metadata.generation, 2);
  subscription.unsubscribe();
});

test('a pod comes, changes, is deleted and goes: one update each, and nothing for what did not change', () => {
  const { file, seen, wakes, subscription } = setUp();
  for (const snapshot of [[web], [web], [aPod('web')], [changed], [deleted], []]) file.next(snapshot);
  assert.deepEqual(seen, ['ADD file web', 'UPDATE file web', 'DELETE file web', 'REMOVE file web']);
  assert.deepEqual(wakes, ['uid-web: pod added', 'uid-web: pod updated', 'uid-web: pod deleted', 'uid-web: pod removed']);
  subscription.unsubscribe();
});

test('all sources are seen only once each has told its complete set, be it empty', () => {
  const { file, http, pods, seen, subscription } = setUp();
  assert.equal(pods.synced, false);
  file.next([web]);
  assert.equal(pods.synced, false);
  http.next([]);
  assert.equal(pods.synced, true);
  assert.deepEqual(seen, ['ADD file web', 'ADD http']);
  subscription.unsubscribe();
});

test('what was emitted never changes afterwards', () => {
  const { config, file, subscription } = setUp();
  const emitted: PodUpdate[] = [];
  const other = config.updates.subscribe((update) => emitted.push(update));
  file.next([web]);
  const before = JSON.stringify(emitted[0]);
  file.next([changed]);
  assert.equal(JSON.stringify(emitted[0]), before);
  other.unsubscribe();
  subscription.unsubscribe();
});

test('sync() tells everything once more, as one SET of all sources', () => {
  const { config, file, http, pods, seen, subscription } = setUp();
  file.next([web]);
  http.next([aPod('db')]);
  seen.length = 0;
  config.sync();
  assert.deepEqual(seen, ['SET * web,db']);
  assert.deepEqual(
    pods.list().map(({ source, pod }) => `${source} ${pod.metadata.name}`),
    ['file web', 'http db'],
  );
  subscription.unsubscribe();
});

test('a pod that two sources declare is wanted until the last of them lets go', () => {
  const { file, http, pods, subscription } = setUp();
  file.next([web]);
  http.next([web]);
  file.next([]);
  assert.equal(pods.get(web.metadata.uid)?.source, 'http');
  http.next([]);
  assert.equal(pods.get(web.metadata.uid), undefined);
  subscription.unsubscribe();
});
