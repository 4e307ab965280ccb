import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerId } from '../../../../src/ports/container-runtime.ts';
import type { RestartMarks } from '../../../../src/ports/restart-marks.ts';
import { Restarts } from '../../../../src/agent/reconcile/restarts.ts';
import { aPod } from '../../../builders/a-pod.ts';
import { anInstance, anObservedPod, exited } from '../../../builders/an-observed-pod.ts';

const pod = aPod('web');
const { uid } = pod.metadata;
const first = anInstance(pod, 'app', { attempt: 0, state: exited(0) });
const second = anInstance(pod, 'app', { attempt: 1, state: exited(0) });
const phases = async (restarts: Restarts, ...containers: readonly (typeof first)[]): Promise<readonly string[]> =>
  (await restarts.asMeant(anObservedPod(pod, { containers }))).containers.map(({ state }) => state.phase);

/** Where nothing is kept over a restart of the agent. */
const noMarks: RestartMarks = { mark: async () => {}, load: async () => new Map() };

/** Marks in memory, and how often they were read. */
function marksOf(...entries: readonly (readonly [string, ContainerId])[]) {
  const kept = new Map(entries);
  const reads: string[] = [];
  const marks: RestartMarks = {
    mark: async (_uid, container, id) => void kept.set(container, id),
    load: async (pod) => {
      reads.push(pod);
      return kept;
    },
  };
  return { marks, kept, reads };
}

test('a container that was stopped to be started again counts as not ended, until its pod is forgotten', async () => {
  const restarts = new Restarts(noMarks);
  assert.deepEqual(await phases(restarts, second, first), ['exited', 'exited']);
  await restarts.mark(uid, 'app', second.id);
  assert.deepEqual(await phases(restarts, second, first), ['created', 'created']);
  restarts.forget(uid);
  assert.deepEqual(await phases(restarts, second, first), ['exited', 'exited']);
});

test('an instance that is newer than the one stopped ended by itself', async () => {
  const restarts = new Restarts(noMarks);
  await restarts.mark(uid, 'app', first.id);
  assert.deepEqual(await phases(restarts, second, first), ['exited', 'exited']);
});

test('an instance that was created and has not run does not speak for the container: the one before it was stopped to be started again', async () => {
  const restarts = new Restarts(noMarks);
  await restarts.mark(uid, 'app', first.id);
  const next = anInstance(pod, 'app', { attempt: 1, state: { phase: 'created' } });
  assert.deepEqual(await phases(restarts, next, first), ['created', 'created']);
});

test('other containers of the pod are as they are', async () => {
  const restarts = new Restarts(noMarks);
  await restarts.mark(uid, 'log', 'log-0' as ContainerId);
  assert.deepEqual(await phases(restarts, second, first), ['exited', 'exited']);
});

test('what is stopped is marked for the next agent, which reads it once, and only of a pod in which something has ended', async () => {
  const before = marksOf();
  await new Restarts(before.marks).mark(uid, 'app', second.id);
  assert.deepEqual([...before.kept], [['app', second.id]]);

  const { marks, reads } = marksOf(...before.kept);
  const restarts = new Restarts(marks);
  assert.deepEqual(await phases(restarts, anInstance(pod, 'app')), ['running']);
  assert.deepEqual(reads, []);
  for (let look = 0; look < 2; look++) assert.deepEqual(await phases(restarts, second, first), ['created', 'created']);
  assert.deepEqual(reads, [uid]);
});
