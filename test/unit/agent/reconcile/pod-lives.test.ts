import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, podFullName, type PodUid } from '../../../../src/model/pod.ts';
import { PodLives } from '../../../../src/agent/reconcile/pod-lives.ts';
import { aPod } from '../../../builders/a-pod.ts';

const named = (name: string, uid: string, metadata: Partial<Pod['metadata']> = {}): Pod =>
  aPod(name, {}, { uid: uid as PodUid, ...metadata });
const OLD = 'old' as PodUid;
const NEW = 'new' as PodUid;

test('a successor with the same name waits until the old pod has ended', () => {
  const lives = new PodLives();
  const [old, successor] = [named('web', OLD), named('web', NEW)];
  assert.equal(lives.enter(OLD, old, 0), 'syncing');
  assert.equal(lives.enter(NEW, successor, 1), 'waiting');
  assert.equal(lives.nameOf(OLD), podFullName(successor));
  assert.equal(lives.enter(OLD, undefined, 2), 'terminating');
  assert.equal(lives.enter(NEW, successor, 3), 'waiting');
  assert.equal(lives.end(OLD, false), 'web_default');
  assert.equal(lives.enter(NEW, successor, 4), 'syncing');
});

test('pods of different names or namespaces never wait for each other', () => {
  const lives = new PodLives();
  assert.equal(lives.enter(OLD, named('web', OLD), 0), 'syncing');
  assert.equal(lives.enter(NEW, named('web', NEW, { namespace: 'other' }), 0), 'syncing');
});

test('a terminating pod that is declared again starts over only after its end', () => {
  const lives = new PodLives();
  const pod = named('web', OLD);
  lives.enter(OLD, pod, 0);
  assert.equal(lives.enter(OLD, undefined, 5), 'terminating');
  assert.equal(lives.enter(OLD, pod, 6), 'terminating');
  assert.equal(lives.terminatingSinceMs(OLD), 5);
  lives.end(OLD, false);
  assert.equal(lives.enter(OLD, pod, 7), 'syncing');
  assert.equal(lives.terminatingSinceMs(OLD), undefined);
});

test('what ran before the agent started keeps its name', () => {
  const lives = new PodLives();
  lives.adopt([{ uid: OLD, name: 'web', namespace: 'default', parts: [] }]);
  assert.equal(lives.enter(NEW, named('web', NEW), 0), 'waiting');
  assert.equal(lives.enter(OLD, named('web', OLD), 0), 'syncing');
});

test('of several pods found with one name, the one that runs keeps it', () => {
  const lives = new PodLives();
  const found = { name: 'web', namespace: 'default' };
  lives.adopt([
    { ...found, uid: OLD, parts: [{ id: '1', container: 'app', phase: 'exited' }] },
    { ...found, uid: NEW, parts: [{ id: '2', container: 'app', phase: 'running' }] },
  ]);
  assert.equal(lives.nameOf(NEW), podFullName(named('web', NEW)));
  assert.deepEqual([...lives.unended].sort(), [NEW, OLD]);
  lives.enter(OLD, undefined, 0);
  assert.equal(lives.end(OLD, false), undefined);
  assert.deepEqual([...lives.unended], [NEW]);
});

test("a pod that was waiting and is gone frees nobody else's name", () => {
  const lives = new PodLives();
  lives.enter(OLD, named('web', OLD), 0);
  lives.enter(NEW, named('web', NEW), 0);
  assert.equal(lives.enter(NEW, undefined, 1), 'terminating');
  assert.equal(lives.end(NEW, false), undefined);
  assert.equal(lives.nameOf(OLD), podFullName(named('web', NEW)));
  assert.ok(lives.isHeld(named('web', NEW)));
});

test('a deleted pod that is still declared stays ended until its source lets go of it', () => {
  const lives = new PodLives();
  const deleted = named('web', OLD, { deletionTimestamp: '2026-01-01T00:00:00Z' });
  assert.equal(lives.enter(OLD, deleted, 0), 'terminating');
  lives.end(OLD, true);
  assert.equal(lives.enter(OLD, deleted, 1), 'terminated');
  assert.equal(lives.enter(OLD, undefined, 2), 'terminating');
});
