import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../src/model/pod.ts';
import { aPodThat, server, sidecar, worker } from '../../builders/pods-that.ts';
import { always, startAgent } from '../../fakes/agent-on-fake-engine.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { fakeEngine } from '../../../src/engines/fake/fake-engine.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { NodeParts } from '../../../src/ports/node-parts.ts';

const HOUR = 3_600_000;
/** Each quarter of an hour other pods take the place of all. */
const ROUNDS = 96;
/** Of each sort, in each round: 13 make 10,000 pods. */
const OF_EACH = Number(process.env['RXLET_TEST_CHURN'] ?? 1);

/** One of each sort of pod that ends in another way, or not at all. */
const sorts: readonly ((name: string) => Pod)[] = [
  (name) => aPodThat(name),
  (name) => aPodThat(name, { initContainers: [worker('first', 1), sidecar('beside')] }),
  (name) => aPodThat(name, { restartPolicy: 'Never', containers: [worker('job', 60)] }),
  (name) => aPodThat(name, { restartPolicy: 'OnFailure', containers: [worker('job', 30), worker('fails', 5, 1)] }),
  (name) => aPodThat(name, { containers: [worker('loops', 2, 1), server('app')] }),
  (name) => aPodThat(name, { activeDeadlineSeconds: 120 }),
  (name) => aPodThat(name, { terminationGracePeriodSeconds: 600, containers: [server('deaf')] }),
  (name) => aPodThat(name, { containers: [server('app', { image: 'nowhere/nothing:1' })] }),
];

test('a day in which other pods take the place of all every quarter of an hour leaves nothing behind', async (t) => {
  const clock = new FakeClock();
  const engine = fakeEngine({ clock, log: silentLogger });
  t.after(() => engine.controls.close());
  engine.controls.scriptPull('nowhere/nothing:1', { kind: 'fail', message: 'not found' });
  let node: NodeParts | undefined;
  const agent = startAgent({ clock, engine, capabilities: [always('witness', (parts) => ((node = parts), {}))] });
  const declared: Pod[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const pods = sorts.flatMap((of, sort) => Array.from({ length: OF_EACH }, (_, i) => of(`pod-${round}-${sort}-${i}`)));
    declared.push(...pods);
    agent.declare(pods);
    await clock.advance(HOUR / 8);
    // What dies by itself, too, and an engine that is away for a while.
    for (const { id, state } of engine.controls.world().slice(0, 2))
      if (state.phase === 'running') engine.controls.kill(id, { exitCode: 137 });
    if (round % 16 === 0) engine.controls.restart({ downMs: 30_000 });
    await clock.advance(HOUR / 8);
  }
  agent.declare([]);
  await clock.advance(HOUR);
  assert.deepEqual(
    engine.controls.world().map(({ podName, name }) => `${podName}/${name}`),
    [],
  );
  assert.ok(node);
  assert.deepEqual(node.pods.list(), []);
  const known = declared.filter(({ metadata: { uid } }) => agent.statuses.get(uid) !== undefined || node?.ends.of(uid) !== undefined);
  assert.deepEqual(known, []);
  const stopped = agent.stop();
  await clock.advance(0);
  await stopped;
});
