import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { controlPlane } from '../../builders/cluster-under-test.ts';
import { NodeInTrouble } from './node-in-trouble.ts';
import { restoreControlPlane } from './restore-control-plane.ts';

describe('history that etcd has forgotten', { timeout: 240_000 }, () => {
  after(restoreControlPlane);

  test('makes a node list anew; a pod that was deleted and made again meanwhile is seen as two, and new ones run', async (t) => {
    const node = await NodeInTrouble.start(t);
    const { agent } = node;
    await Promise.all(['stays', 'goes', 'again'].map((name) => node.create(name)));
    await node.up('stays', 'goes', 'again');
    const [before, oldUid] = [await node.containers('stays'), node.pod('again')?.metadata.uid];

    // The agent hears nothing of this before its watches are refused.
    process.kill(agent.pid, 'SIGSTOP');
    await node.remove('goes', 0);
    await node.remove('again', 0);
    const newUid = await node.create('again');
    await controlPlane('stop', 'apiserver');
    await controlPlane('compact');
    await controlPlane('start', 'apiserver');
    const resumedAt = performance.now();
    const from = agent.lines.length;
    process.kill(agent.pid, 'SIGCONT');

    const forgotten = 'watch history expired on the server, listing again';
    await agent.logged('that history is forgotten', ({ msg, collection }) => msg === forgotten && /pods/.test(String(collection)), from);
    t.diagnostic(`noticed after ${Math.round(performance.now() - resumedAt)} ms`);
    await node.until('the deleted pod has left the engine', async () => (await node.containers('goes')).length === 0);
    await node.until('the engine has the new pod alone', async () => {
      const there = await node.containers('again');
      return there.length === 2 && there.every(({ uid, state }) => uid === newUid && state === 'running');
    });
    assert.notEqual(oldUid, newUid);
    await node.create('late');
    await node.up('stays', 'again', 'late');
    t.diagnostic(`all is as it should be after ${Math.round(performance.now() - resumedAt)} ms`);
    assert.deepEqual(await node.containers('stays'), before);
  });
});
