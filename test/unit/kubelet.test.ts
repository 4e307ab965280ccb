import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodUid } from '../../src/model/pod.ts';
import { aContainer, aPod } from '../builders/a-pod.ts';
import { type AgentOnFakeEngine, agentOnFakeEngine, always } from '../fakes/agent-on-fake-engine.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';

const forever = (name: string): Pod => aPod(name, { containers: [aContainer('app', { command: ['sleep', '100000'] })] });
const running = ({ engine }: AgentOnFakeEngine): readonly string[] =>
  engine.controls
    .world()
    .filter(({ state }) => state.phase === 'running')
    .map(({ podName, name }) => `${podName}/${name}`)
    .sort();

test('a declared pod runs, and a pod that is no longer declared leaves nothing behind', async () => {
  const agent = agentOnFakeEngine();
  agent.declare([forever('web')]);
  await agent.clock.advance(1000);
  assert.deepEqual(running(agent), ['web/POD', 'web/app']);
  assert.equal(agent.statuses.get('uid-web' as PodUid)?.phase, 'Running');
  agent.declare([]);
  await agent.clock.advance(40_000);
  assert.deepEqual(agent.engine.controls.world(), []);
  assert.equal(agent.statuses.get('uid-web' as PodUid), undefined);
  await agent.close();
  assert.equal(agent.clock.actions.length, 0);
});

for (const kind of ['startupProbe', 'livenessProbe'] as const)
  test(`an edited pod's ${kind} is executed once the pod whose name it waited for has ended`, async () => {
    const agent = agentOnFakeEngine();
    const version = (uid: string): Pod => {
      const app = aContainer('app', {
        command: ['sleep', '100000'],
        [kind]: { exec: { command: ['false'] }, failureThreshold: 2, periodSeconds: 1 },
      });
      return aPod('web', { containers: [app], terminationGracePeriodSeconds: 1 }, { uid: uid as PodUid });
    };
    agent.declare([version('old')]);
    await agent.clock.advance(500);
    agent.declare([version('new')]);
    await agent.clock.advance(20_000);
    assert.equal(agent.records.find(({ uid }) => uid === 'new')?.life, 'waiting');
    assert.match(
      agent.records.flatMap(({ uid, plan }) => (uid === 'new' ? plan.because : [])).join('\n'),
      /failed its (startup|liveness) probe/,
    );
    await agent.close();
  });

test('a change of state is logged each time, the same again within a minute too; what only repeats is folded', async () => {
  const log = new RecordingLogger();
  const talks = always('talks', ({ log: everyLine, folded }) => ({
    services: [
      {
        name: 'talks',
        stage: 'before pods',
        run: async () => {
          for (const each of [folded, folded]) each.warn('client refused');
          for (const each of [everyLine, everyLine]) each.info('manifest URL can be read again');
        },
      },
    ],
  }));
  const agent = agentOnFakeEngine({ log, capabilities: [talks] });
  await agent.clock.advance(1000);
  assert.deepEqual([log.count('client refused'), log.count('manifest URL can be read again')], [1, 2]);
  await agent.close();
});
