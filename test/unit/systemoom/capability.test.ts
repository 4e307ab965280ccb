import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEVER, Subject } from 'rxjs';
import type { PodSummary } from '../../../src/ports/container-runtime.ts';
import { capability } from '../../../src/systemoom/capability.ts';
import type { KernelLog } from '../../../src/systemoom/kernel-log.ts';
import { nodeUnderTest, runServices } from '../../builders/node-parts.ts';

const killed = (pid: number, why = 'Out of memory'): string => `4,1,2,-;${why}: Killed process ${pid} (sh) total-vm:1kB, anon-rss:1kB\n`;

/** The capability on a log that has these records at first. */
function setUp(records: string[], next = (): string | undefined => records.shift()) {
  const relists = new Subject<readonly PodSummary[]>();
  const pleg = { ...nodeUnderTest().node.pleg, changes: NEVER, recoveries: NEVER, relists };
  const scene = nodeUnderTest({ pleg });
  let closed = 0;
  const log: KernelLog = { next, close: () => void closed++ };
  const { stop } = runServices(capability(scene.node, () => log).services);
  return {
    ...scene,
    records,
    closed: () => closed,
    relists,
    look: async (times = 1): Promise<void> => {
      relists.next([]);
      for (let turn = 0; turn < times; turn++) await new Promise((others) => setImmediate(others));
    },
    stop: async () => {
      await stop();
      scene.node.engine.close();
    },
  };
}

test('who is killed from the start of the agent on is told in the kubelet’s words, at the next relist', async () => {
  const at = setUp([killed(1), killed(2)]);
  await at.look();
  assert.deepEqual([at.events, at.records], [[], []]);
  at.records.push(killed(3), '', killed(4, 'Memory cgroup out of memory'), killed(5));
  assert.deepEqual(at.events, []);
  await at.look();
  assert.deepEqual(
    at.events.map(({ about, type, reason, message }) => [about, type, reason, message]),
    [3, 5].map((pid) => ['n1', 'Warning', 'SystemOOM', `System OOM encountered, victim process: sh, pid: ${pid}`]),
  );
  await at.stop();
  assert.deepEqual([at.closed(), at.log.lines, at.relists.observed], [1, [], false]);
});

test('however much is written, others have their turn, and a look has an end', async () => {
  let read = 0;
  const at = setUp([], () => (read++, '4,1,2,-;eth0: link is up\n'));
  assert.ok(read > 0 && read < 1000, `${read} in the first piece`);
  const [before] = [read, await at.look()];
  assert.ok(read < before + 1000);
  await at.stop();
  const [last] = [read, await at.look(3)];
  assert.deepEqual([read, at.closed()], [last, 1]);
});

test('a look that has read as much as it may leaves the rest to the next', async () => {
  const at = setUp([]);
  await at.look();
  at.records.push(...Array.from({ length: 60_000 }, () => '6,1,2,-;x\n'));
  for (const left of [10_000, 0]) {
    await at.look(1000);
    assert.equal(at.records.length, left);
  }
  await at.stop();
});

test('a log that cannot be read, or not any more, is said once, and harms nothing', async () => {
  const scene = nodeUnderTest();
  const { stop } = runServices(
    capability(scene.node, () => {
      throw new Error('EPERM: operation not permitted');
    }).services,
  );
  await stop();
  scene.node.engine.close();
  assert.deepEqual(
    scene.log.lines.map(({ level, message }) => [level, message]),
    [['info', 'no event SystemOOM will tell whom the kernel kills: its log cannot be read']],
  );

  let broken = false;
  const at = setUp([], () => {
    if (broken) throw new Error('EIO: i/o error');
    return undefined;
  });
  broken = true;
  await at.look(3);
  await at.look(3);
  assert.deepEqual(
    at.log.lines.map(({ level, message }) => [level, message]),
    [['warn', 'no event SystemOOM will tell any more whom the kernel kills: its log cannot be read']],
  );
  assert.deepEqual([at.closed(), at.relists.observed], [1, false]);
  await at.stop();
});
