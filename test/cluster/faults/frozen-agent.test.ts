import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isReady, NodeInTrouble } from './node-in-trouble.ts';

describe('an agent that is frozen until the control plane takes its node for dead', { timeout: 240_000 }, () => {
  test('tells within 10 s of going on that node and pods are Ready, and has restarted nothing', async (t) => {
    const node = await NodeInTrouble.start(t);
    const { agent } = node;
    const names = ['a', 'b', 'c'];
    await Promise.all(names.map((name) => node.create(name)));
    await node.up(...names);
    const before = await agent.engine.containers();

    process.kill(agent.pid, 'SIGSTOP');
    await node.until('the node is not Ready', () => node.readiness.at(-1)?.ready === false);
    // The controller manager writes that into the pods, too.
    await node.until('the pods are not Ready', () => names.every((name) => !isReady(node.pod(name))));
    const from = agent.lines.length;
    process.kill(agent.pid, 'SIGCONT');
    const resumedAt = performance.now();
    await node.ready();
    const nodeMs = Math.round(performance.now() - resumedAt);
    await node.up(...names);
    const podsMs = Math.round(performance.now() - resumedAt);
    t.diagnostic(`after it went on: node Ready after ${nodeMs} ms, pods after ${podsMs} ms`);
    assert.ok(nodeMs < 10_000 && podsMs < 10_000, `${nodeMs} ms, ${podsMs} ms`);
    assert.deepEqual(await agent.engine.containers(), before);
    // Time that passed unnoticed is no silence: no connection was given up. A request that was just under way has missed its deadline, and is sent again.
    const isLate = (err: unknown): boolean => /: no answer within 30 s/.test(String(err));
    const lost = agent.lines.slice(from).filter(({ level, err }) => level !== 'info' && !isLate(err));
    assert.deepEqual(lost, []);
  });
});
