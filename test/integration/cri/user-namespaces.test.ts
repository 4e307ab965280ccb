import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { engineFeatures } from '../../../src/engines/cri/features/engine-features.ts';
import { openCriClient } from '../../../src/engines/cri/client/cri-client.ts';
import { criUnderTest } from '../../contracts/cri-under-test.ts';
import { DEAF, RuntimeWorld } from '../../contracts/runtime-world.ts';

/** Far from those of other tests. */
const ids = { first: 65_536 * 700, length: 65_536 };

/** Whether the runtime at RXLET_TEST_CRI_ENDPOINT can give a pod ids of its own; what it lacks is refused. */
async function canMapIds(): Promise<boolean> {
  const endpoint = process.env['RXLET_TEST_CRI_ENDPOINT'] ?? '';
  const client = openCriClient({
    endpoint,
    clock: systemClock,
    random: Math.random,
    requestTimeoutMs: 30_000,
    tell: { engineCalled: () => {} },
  });
  const { handlers } = await engineFeatures({ client, cgroupVersion: undefined, cgroupDriver: 'cgroupfs' }, AbortSignal.timeout(30_000));
  client.close();
  return handlers[0]?.userNamespaces ?? false;
}

describe('a pod with hostUsers: false', { timeout: 120_000 }, () => {
  let world: RuntimeWorld;
  let volume: string;
  beforeEach(async () => {
    world = new RuntimeWorld(await criUnderTest());
    volume = await mkdtemp(join(tmpdir(), 'rxlet-volume-'));
  });
  afterEach(async () => {
    await world.dispose();
    await rm(volume, { recursive: true });
  });

  test('has ids of its own where the runtime can, in containers that are made after a restart of the agent too; else it is refused', async () => {
    await writeFile(join(volume, 'from-node'), 'x', { mode: 0o600 });
    const mounts = [{ hostPath: volume, containerPath: '/m', readOnly: false }];
    const script = 'cat /proc/self/uid_map /proc/self/gid_map >/m/$0; cat /m/from-node >>/m/$0; stat -c %u /m/from-node >>/m/$0';
    const containers = ['first', 'second'].map((name) =>
      world.shell(name, `${script}; ${DEAF}`, { command: ['sh', '-c', `${script}; ${DEAF}`, name] }),
    );
    const pod = world.pod(containers, { hostUsers: false });
    const spec = { ...world.sandboxSpec(pod), userNamespace: ids };
    if (!(await canMapIds())) {
      await assert.rejects(world.runtime.runSandbox(pod, spec, world.signal), /RuntimeClass handler "" does not support user namespaces/);
      return;
    }
    const { id: sandbox } = await world.runtime.runSandbox(pod, spec, world.signal);
    const again = await criUnderTest();
    try {
      for (const [at, runtime] of [world.runtime, again.runtime].entries()) {
        const container = containers[at];
        assert.ok(container);
        const id = await runtime.startContainer(pod, sandbox, await world.spec(container, { mounts }), world.signal);
        const file = join(volume, container.name);
        const map = String.raw`\s+0\s+${ids.first}\s+${ids.length}\n`;
        const wanted = new RegExp(`^${map}${map}x0\n$`);
        while (!wanted.test(await readFile(file, 'utf8').catch(() => ''))) {
          assert.equal((await world.container(pod, id)).state.phase, 'running');
          world.signal.throwIfAborted();
        }
        // On the node, too, what root in the pod has written to a volume is root's.
        assert.equal((await stat(file)).uid, 0);
      }
    } finally {
      await again.dispose();
    }
  });
});
