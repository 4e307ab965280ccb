import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPodThat, server, worker } from '../../builders/pods-that.ts';
import { agentOnFakeEngine, always } from '../../fakes/agent-on-fake-engine.ts';

test('a variable is what an earlier container has left in a file, and the container waits where it left none', async () => {
  const files = new Map<string, string>();
  const agent = agentOnFakeEngine({
    capabilities: [
      always('files', () => ({
        volumeFiles: {
          read: async ({ metadata }, volume, path) => {
            const text = files.get(`${metadata.name} ${volume} ${path}`);
            if (text === undefined) throw new Error('no such file or directory');
            return { path: `/${volume}/${path}`, text };
          },
        },
      })),
    ],
  });
  const parts = (): ReturnType<typeof agent.engine.controls.world> => agent.engine.controls.world();
  const valueFrom = { fileKeyRef: { volumeName: 'v', path: 'login.env', key: 'USER' } };
  const pod = aPodThat('web', { initContainers: [worker('init', 2)], containers: [server('app', { env: [{ name: 'WHO', valueFrom }] })] });
  agent.declare([pod]);
  await agent.clock.advance(10_000);
  assert.deepEqual(agent.statuses.get(pod.metadata.uid)?.containerStatuses?.[0]?.state, {
    waiting: { reason: 'CreateContainerConfigError', message: "couldn't parse env file: no such file or directory" },
  });
  files.set('web v login.env', "USER='me'");
  await agent.clock.advance(60_000);
  const app = parts().find(({ name, state }) => name === 'app' && state.phase === 'running');
  assert.deepEqual(app?.given.env, [{ name: 'WHO', value: 'me' }]);
  await agent.close();
});
