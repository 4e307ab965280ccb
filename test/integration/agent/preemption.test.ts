import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, test } from 'node:test';
import { AgentUnderTest } from './agent-under-test.ts';
import { app, pod } from './pod-specs.ts';

describe('a node without room', { timeout: 120_000 }, () => {
  test('ends a pod for one of higher priority, which begins when that has stopped', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const most = { resources: { requests: { cpu: String(availableParallelism() * 0.75) } } };
    const asking = (command: string, priority: number): ReturnType<typeof pod> =>
      pod([app(command, most)], { priority, terminationGracePeriodSeconds: 30 });
    await agent.declare('low', asking(`trap 'sleep 1; exit 0' TERM; while :; do sleep 1000 & wait $!; done`, 1));
    await agent.up('low');
    await agent.declare('high', asking(`trap 'exit 0' TERM; while :; do sleep 1000 & wait $!; done`, 2));
    await agent.up('high');
    await agent.phase('low', 'Failed');
    // Engines may tell of two containers out of order.
    const seen = await agent.until('all of it is heard', () => {
      const events = agent.engine.events.filter(({ action, container }) => container !== 'POD' && (action === 'start' || action === 'die'));
      return events.length === 3 && events.toSorted((a, b) => a.atMs - b.atMs);
    });
    assert.deepEqual(
      seen.map(({ action, pod: of }) => `${of === agent.pod('low') ? 'low' : 'high'} ${action}`),
      ['low start', 'low die', 'high start'],
    );
  });
});
