import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { capability } from '../../../src/garbage/capability.ts';
import type { Pod } from '../../../src/model/pod.ts';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import type { Contribution } from '../../../src/ports/contribution.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { agentOnFakeEngine, always } from '../../fakes/agent-on-fake-engine.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const MINUTE = 60_000;
const { signal } = new AbortController();

const once = (name: string, restartPolicy = 'Never', command = ['sh', '-c', 'exit 0']): Pod =>
  aPod(name, { restartPolicy, containers: [aContainer('app', { command })] });
const crashing = (name: string): Pod => once(name, 'Always', ['sh', '-c', 'sleep 1; exit 1']);

function setUp(t: TestContext, options: Partial<KubeletOptions>) {
  let contribution: Contribution = {};
  const log = new RecordingLogger();
  const agent = agentOnFakeEngine({
    log,
    options: { maxContainerRestartPeriodMs: 2000, ...options },
    capabilities: [always('garbage', (node) => (contribution = capability(node)))],
  });
  t.after(() => agent.close());
  const dead = (name?: string): number =>
    agent.engine.controls
      .world()
      .filter(({ role, state, podName }) => role.kind === 'container' && state.phase === 'exited' && (name ?? podName) === podName).length;
  return { ...agent, declare: (pods: readonly Pod[]) => agent.declare(pods), log, dead, reclaimers: () => contribution.reclaim ?? [] };
}

describe('dead containers', () => {
  for (const [perContainer, kept] of [
    [0, 1],
    [1, 1],
    [3, 3],
    [-1, 9],
  ] as const)
    test(`of one container stay as --maximum-dead-containers-per-container=${perContainer} says, the newest in any case`, async (t) => {
      const { clock, declare, dead, statuses } = setUp(t, { maximumDeadContainersPerContainer: perContainer });
      declare([crashing('web')]);
      // While it runs, what is dead is all that stays besides.
      while ((statuses.get(crashing('web').metadata.uid)?.containerStatuses?.[0]?.restartCount ?? 0) < 10) await clock.advance(100);
      await clock.advance(100);
      assert.ok(Math.abs(dead() - kept) <= 1, `${dead()} are dead`);
      assert.equal(statuses.get(crashing('web').metadata.uid)?.containerStatuses?.[0]?.restartCount, 10);
    });

  test('stay as long as --minimum-container-ttl-duration says', async (t) => {
    const { clock, declare, dead } = setUp(t, { minimumContainerTtlMs: MINUTE });
    declare([crashing('web')]);
    await clock.advance(MINUTE - 1000);
    const most = dead();
    assert.ok(most > 10, String(most));
    await clock.advance(2 * MINUTE);
    assert.ok(dead() > 1 && dead() < most * 2, `${dead()} are dead, ${most} were within the first minute`);
  });

  test('of pods that have ended go where the node has more than --maximum-dead-containers, the oldest first', async (t) => {
    const { clock, declare, dead, statuses, records } = setUp(t, { maximumDeadContainers: 2 });
    const pods: Pod[] = [];
    for (const name of ['a', 'b', 'c', 'd']) {
      pods.push(once(name));
      declare([...pods]);
      await clock.advance(1000);
    }
    assert.equal(dead(), 4);
    await clock.advance(2 * MINUTE);
    assert.deepEqual(['a', 'b', 'c', 'd'].map(dead), [0, 0, 1, 1]);
    await clock.advance(10 * MINUTE);
    assert.deepEqual(
      pods.map(({ metadata }) => statuses.get(metadata.uid)?.phase),
      ['Succeeded', 'Succeeded', 'Succeeded', 'Succeeded'],
    );
    const starts = records.flatMap(({ outcomes }) => outcomes.filter(({ action }) => action.do === 'startContainer'));
    assert.equal(starts.length, 4, 'none has begun again');
  });

  test('that are the newest of a pod that goes on stay, however many there may be', async (t) => {
    const { clock, declare, dead, statuses } = setUp(t, { maximumDeadContainers: 0, maxContainerRestartPeriodMs: 300_000 });
    const pod = crashing('web');
    declare([pod]);
    await clock.advance(30 * MINUTE);
    assert.equal(dead(), 1);
    const [status] = statuses.get(pod.metadata.uid)?.containerStatuses ?? [];
    assert.ok((status?.restartCount ?? 0) > 5);
    assert.equal(status?.lastState?.terminated?.exitCode ?? status?.state?.terminated?.exitCode, 1);
  });

  test('of pods that have ended go with their sandboxes when the node needs room; those of the others stay', async (t) => {
    const { clock, declare, engine, reclaimers } = setUp(t, {});
    const goesOn = aPod('on', { containers: [aContainer('app', { command: ['sh', '-c', 'sleep 100000'] })] });
    declare([once('done'), goesOn]);
    await clock.advance(MINUTE);
    assert.deepEqual(
      reclaimers().map(({ resource }) => resource),
      ['nodefs', 'containerfs'],
    );
    // What that frees is not known, which is not 0 bytes.
    for (const reclaimer of reclaimers()) assert.equal(await clock.until(reclaimer.reclaim(signal)), undefined);
    assert.deepEqual(
      engine.controls.world().map(({ podName, name }) => `${podName}/${name}`),
      ['on/POD', 'on/app'],
    );
  });

  test('that cannot be removed are reported, and the next are', async (t) => {
    const { clock, declare, dead, engine, reclaimers, log } = setUp(t, {});
    declare([once('a'), once('b')]);
    await clock.advance(MINUTE);
    engine.controls.fail('removeContainer');
    engine.controls.fail('removeSandbox');
    await clock.until(reclaimers()[0]?.reclaim(signal) ?? Promise.reject(new Error('no reclaimer')));
    assert.equal(dead(), 1);
    assert.equal(log.count('what is left of a pod cannot be removed'), 2);
  });
});
