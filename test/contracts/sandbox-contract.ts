import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SandboxId } from '../../src/ports/container-runtime.ts';
import { DEAF, type RuntimeWorld, UNKNOWN } from './runtime-world.ts';

/** What the verbs about sandboxes promise. */
export function sandboxContract(world: () => RuntimeWorld): void {
  describe('sandboxes', () => {
    test('a sandbox that runs is ready and has an address in a network of its own', async () => {
      const pod = world().pod();
      const since = Date.now();
      const id = await world().runSandbox(pod, 3);
      const [sandbox, ...rest] = (await world().observe(pod)).sandboxes;
      assert.deepEqual(rest, []);
      assert.deepEqual({ ...sandbox, ips: [], createdAtMs: 0 }, { id, attempt: 3, ready: true, network: 'pod', ips: [], createdAtMs: 0 });
      assert.match(sandbox?.ips[0] ?? '', /^\d+\.\d+\.\d+\.\d+$/);
      assert.ok(Math.abs((sandbox?.createdAtMs ?? 0) - since) < 30_000);
    });

    test('a sandbox tells of itself when it is there, and its addresses when it runs', async () => {
      const pod = world().pod();
      const created: SandboxId[] = [];
      const running = await world().runtime.runSandbox(pod, world().sandboxSpec(pod), world().signal, (id) => created.push(id));
      const [seen] = (await world().observe(pod)).sandboxes;
      assert.deepEqual([created, running], [[seen?.id], { id: seen?.id, ips: seen?.ips }]);
    });

    test('a sandbox on the host network has no addresses of its own', async () => {
      const pod = world().pod([], { hostNetwork: true });
      assert.deepEqual((await world().runtime.runSandbox(pod, world().sandboxSpec(pod), world().signal)).ips, []);
    });

    test('a pod on the host network says so', async () => {
      const pod = world().pod([], { hostNetwork: true });
      await world().runSandbox(pod);
      assert.deepEqual(
        (await world().observe(pod)).sandboxes.map((s) => [s.ready, s.network]),
        [[true, 'node']],
      );
    });

    test('a sandbox is made in the cgroup and by the handler that it is given', async () => {
      const pod = world().pod();
      const { handler } = world();
      const spec = { ...world().sandboxSpec(pod), cgroupParent: '/rxlet-contract/pod', handler };
      const { id } = await world().runtime.runSandbox(pod, spec, world().signal);
      const made = await world().madeWith(id);
      assert.deepEqual([made.cgroupParent, made.handler], ['/rxlet-contract/pod', handler]);
    });

    test('a handler that the engine does not have makes no sandbox, and is named', async () => {
      const pod = world().pod();
      const spec = { ...world().sandboxSpec(pod), handler: 'nonexistent' };
      await assert.rejects(world().runtime.runSandbox(pod, spec, world().signal), /nonexistent/);
      assert.deepEqual((await world().observe(pod)).sandboxes, []);
    });

    test('a dead sandbox stays, and is not ready', async () => {
      const pod = world().pod();
      const id = await world().runSandbox(pod);
      await world().runtime.stopSandbox(id, world().signal);
      assert.deepEqual(
        (await world().observe(pod)).sandboxes.map((s) => [s.id, s.ready]),
        [[id, false]],
      );
    });

    test('a removed sandbox is gone', async () => {
      const pod = world().pod();
      const id = await world().runSandbox(pod);
      await world().runtime.stopSandbox(id, world().signal);
      await world().runtime.removeSandbox(id, world().signal);
      assert.deepEqual((await world().observe(pod)).sandboxes, []);
    });

    test('removing a sandbox removes the containers in it, and no others', async () => {
      const container = world().shell('app', DEAF);
      const pod = world().pod([container]);
      const old = await world().runSandbox(pod, 0);
      await world().start(pod, old, container, { attempt: 0 });
      await world().runtime.stopSandbox(old, world().signal);
      const young = await world().runSandbox(pod, 1);
      const id = await world().start(pod, young, container, { attempt: 1 });
      await world().runtime.removeSandbox(old, world().signal);
      const { sandboxes, containers } = await world().observe(pod);
      assert.deepEqual([sandboxes.map((s) => s.id), containers.map((c) => c.id)], [[young], [id]]);
    });

    test('stopping and removing twice, or what never was, succeeds', async () => {
      const id = await world().runSandbox(world().pod());
      for (const each of [id, id, UNKNOWN as SandboxId]) await world().runtime.stopSandbox(each, world().signal);
      for (const each of [id, id, UNKNOWN as SandboxId]) await world().runtime.removeSandbox(each, world().signal);
    });

    for (const leftover of ['runs', 'is dead'] as const)
      test(`a sandbox whose name is taken by a leftover that ${leftover} replaces or adopts it`, async () => {
        const pod = world().pod();
        const first = await world().runSandbox(pod);
        if (leftover === 'is dead') await world().runtime.stopSandbox(first, world().signal);
        const id = await world().runSandbox(pod);
        assert.deepEqual(
          (await world().observe(pod)).sandboxes.map((s) => [s.id, s.attempt, s.ready]),
          [[id, 0, true]],
        );
      });
  });
}
