import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { PullActivity } from '../../../../../src/engines/cri/images/pull-activity.ts';

let root: string;
const ingest = (): string => join(root, 'io.containerd.content.v1.content/ingest');
const download = (name: string, bytes: number): void => {
  mkdirSync(join(ingest(), name), { recursive: true });
  writeFileSync(join(ingest(), name, 'data'), Buffer.alloc(bytes));
};
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rxlet-activity-'));
  mkdirSync(ingest(), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

test('a download has to grow; what others have left there says nothing', async () => {
  download('left', 50);
  const activity = new PullActivity(root);
  await activity.look();
  download('own', 10);
  assert.equal(await activity.look(), true);
  assert.equal(await activity.look(), false);
  download('own', 11);
  assert.equal(await activity.look(), true);
  assert.equal(await activity.look(), false);
});

test('after the downloads the runtime unpacks, for as long as that takes', async () => {
  const activity = new PullActivity(root);
  await activity.look();
  download('own', 10);
  await activity.look();
  rmSync(join(ingest(), 'own'), { recursive: true });
  for (const _ of [1, 2, 3]) assert.equal(await activity.look(), true);
});

test('of a directory that is not there nothing is said', async () => {
  const activity = new PullActivity(join(root, 'nowhere'));
  for (const _ of [1, 2]) assert.equal(await activity.look(), true);
});
