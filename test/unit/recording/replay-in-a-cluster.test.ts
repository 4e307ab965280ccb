import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BehaviorSubject } from 'rxjs';
import { replayAgent } from '../../../src/replay-agent.ts';
import { aPod } from '../../builders/a-pod.ts';
import { recordingOf, recordingRun } from '../../builders/recordings.ts';
import { agentOnFakeEngine } from '../../fakes/agent-on-fake-engine.ts';
import { NODE, pathOf } from '../../fakes/cluster-scenario.ts';
import { FakeKubeApi } from '../../fakes/fake-kube-api.ts';

test('what an agent decided about pods of an API server is decided again, from their coming to their end', async () => {
  const api = new FakeKubeApi();
  const { run, lines } = recordingRun();
  const node = new BehaviorSubject({ metadata: { name: NODE, uid: 'node-uid' } });
  const agent = agentOnFakeEngine({ run, cluster: { api: api.door('main'), informer: api.informer, nodeName: NODE, node } });
  const pass = (ms: number): Promise<void> => agent.clock.until(agent.clock.sleep(ms));
  await pass(500);
  agent.declare([aPod('static', {}, { annotations: { 'kubernetes.io/config.source': 'file' } })]);
  const [web, loop] = [aPod('web'), aPod('loop', {}, { annotations: { 'fake.rxlet.dev/app': 'exit=1 after=2s' } })];
  for (const pod of [web, loop]) api.put(pathOf(pod), { ...pod, spec: { ...pod.spec, nodeName: NODE } });
  await pass(20_000);
  await api.door('user').request({ method: 'DELETE', path: pathOf(web), body: {} }, new AbortController().signal);
  await pass(60_000);
  await agent.clock.until(agent.stop());
  agent.engine.controls.close();

  const recording = await recordingOf(lines);
  const seen: string[] = [];
  const { difference } = await replayAgent(recording, { onDecision: ({ pod, life }) => void seen.push(`${pod} ${life}`) });

  assert.equal(difference, undefined);
  for (const what of ['default/static syncing', 'default/web syncing', 'default/web terminating', 'default/loop syncing'])
    assert.ok(seen.includes(what), `${what} is not in ${seen.join(', ')}`);
});
