import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { controlPlane } from '../../builders/cluster-under-test.ts';
import { pod } from '../../integration/agent/pod-specs.ts';
import type { EngineContainer } from '../../integration/agent/test-engine.ts';
import { isReady, NodeInTrouble } from './node-in-trouble.ts';
import { restoreControlPlane } from './restore-control-plane.ts';

const OUTAGE_MS = 60_000;
/** The controller manager looks at leases every 5 s: whatever it has to say about the outage it has said by then. */
const SETTLED_MS = 12_000;

describe('without its API server', { timeout: 300_000 }, () => {
  after(restoreControlPlane);

  test('a node keeps its pods running, restarts what ends and starts what is static; when the server is back it hears of all that', async (t) => {
    const node = await NodeInTrouble.start(t);
    const { agent } = node;
    const names = Array.from({ length: 10 }, (_, i) => `p${i}`);
    await Promise.all(names.map((name) => node.create(name)));
    await node.up(...names);
    const before = await agent.engine.containers();
    const [victim] = (await node.containers('p0')).filter(({ container }) => container === 'app');
    assert.ok(victim);

    await controlPlane('stop', 'apiserver');
    const stoppedAt = performance.now();
    await agent.engine.kill(victim.id);
    await agent.until('the killed container runs again', async () =>
      (await node.containers('p0')).some(({ container, attempt, state }) => container === 'app' && attempt === 1 && state === 'running'),
    );
    const restartedAt = performance.now();
    await agent.declare('static', pod());
    await agent.until('the static pod runs', async () => {
      const running = (await agent.engine.containers()).filter(
        ({ pod: name, state }) => name === node.staticPod('static') && state === 'running',
      );
      return running.length === 2;
    });
    const staticAt = performance.now();
    assert.ok(staticAt - stoppedAt < OUTAGE_MS, 'both within the outage');
    await sleep(OUTAGE_MS - (performance.now() - stoppedAt));

    const awayUntil = performance.now();
    await controlPlane('start', 'apiserver');
    // It has answered from a little before, so that an agent may be even faster than this.
    const backAt = performance.now();
    await node.isBack();
    await node.until(
      'the API shows what has happened',
      () =>
        names.every((name) => isReady(node.pod(name))) &&
        node.pod('p0')?.status?.containerStatuses?.[0]?.restartCount === 1 &&
        isReady(node.pods.get(node.staticPod('static'))),
    );
    const toldAt = performance.now();
    const renewal = (): number | undefined => node.renewals.find((atMs) => atMs > awayUntil);
    await node.until('the lease is renewed', () => renewal() !== undefined);
    await node.ready();
    await sleep(Math.max(0, SETTLED_MS - (performance.now() - backAt)));

    const transitions = node.readiness.filter(({ atMs }) => atMs > awayUntil);
    const readyMs = Math.max(renewal() ?? Infinity, ...transitions.map(({ atMs }) => atMs)) - backAt;
    t.diagnostic(`killed container back after ${ms(restartedAt - stoppedAt)}, static pod up after ${ms(staticAt - restartedAt)}`);
    t.diagnostic(
      `after the return: statuses told after ${ms(toldAt - backAt)}, Node Ready for good after ${ms(readyMs)}, ${transitions.length} transitions`,
    );
    assert.ok(readyMs < 10_000, `Ready for good ${ms(readyMs)} after the return`);
    assert.equal(node.readiness.at(-1)?.ready, true);
    assert.ok(toldAt - backAt < 10_000, `statuses ${ms(toldAt - backAt)} after the return`);
    assert.ok(
      names.every((name) => isReady(node.pod(name))),
      'every pod is Ready',
    );

    const now = (await agent.engine.containers()).filter(({ pod: name }) => name !== node.staticPod('static'));
    const running = (containers: readonly EngineContainer[]): readonly string[] =>
      containers.filter(({ id, state }) => id !== victim.id && state === 'running').map(({ name }) => name);
    assert.deepEqual(running(now).toSorted(), [...running(before), victim.name.replace(/_0$/, '_1')].toSorted());
  });
});

const ms = (duration: number): string => `${Math.round(duration)} ms`;
