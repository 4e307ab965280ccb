import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testEndpoint } from '../../builders/docker-under-test.ts';
import { UnixSocketProxy } from '../../fakes/unix-socket-proxy.ts';
import { AgentUnderTest } from './agent-under-test.ts';
import { pod } from './pod-specs.ts';

describe('an engine whose events do not arrive', { timeout: 200_000 }, () => {
  test('is looked at every ten seconds: what died is started again', async (t) => {
    const proxy = await UnixSocketProxy.start(testEndpoint.replace('unix://', ''));
    t.after(() => proxy.close());
    proxy.swallowAnswersTo('GET /events');
    const agent = await AgentUnderTest.start(t, `--docker-endpoint=unix://${proxy.path}`, '--sync-frequency=1h');
    await agent.declare('web', pod());
    const { app: first } = await agent.up('web');
    assert.ok(first);
    await agent.phase('web', 'Running');
    await agent.engine.kill(first.id);
    const again = await agent.until('it runs again', async () => {
      const { app: now } = await agent.up('web');
      return now?.id !== first.id && now;
    });
    assert.equal(again.attempt, 1);
    const at = (action: string, id: string): number =>
      agent.engine.events.find((e) => e.action === action && e.id === id)?.atMs ?? Number.NaN;
    const tookMs = at('start', again.id) - at('die', first.id);
    t.diagnostic(`back after ${Math.round(tookMs)} ms`);
    assert.ok(tookMs < 20_000, `${tookMs} ms`);
    await agent.logged('that the relist found it', ({ msg }) => msg === 'relist found a change without an engine event');
  });
});
