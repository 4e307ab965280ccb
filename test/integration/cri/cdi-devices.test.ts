import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { openCriClient } from '../../../src/engines/cri/client/cri-client.ts';
import { engineFeatures } from '../../../src/engines/cri/features/engine-features.ts';
import { criUnderTest } from '../../contracts/cri-under-test.ts';
import { RuntimeWorld } from '../../contracts/runtime-world.ts';
import { criEndpoint } from '../../builders/engine-of-tests.ts';

/** Where runtimes look for what CDI's names stand for; gone with the machine's memory. */
const directory = '/var/run/cdi';
const kind = `rxlet-test-${process.pid}.example.org/device`;
const file = `${directory}/rxlet-test-${process.pid}.json`;

async function hasCdi(): Promise<boolean> {
  const tell = { engineCalled: () => {} };
  const client = openCriClient({ endpoint: criEndpoint(), clock: systemClock, random: Math.random, requestTimeoutMs: 30_000, tell });
  const { cdi } = await engineFeatures({ client, cgroupVersion: undefined, cgroupDriver: 'cgroupfs' }, AbortSignal.timeout(30_000));
  client.close();
  return cdi;
}

describe('devices by their CDI names', { timeout: 120_000 }, () => {
  let world: RuntimeWorld;
  beforeEach(async () => {
    world = new RuntimeWorld(await criUnderTest());
    await mkdir(directory, { recursive: true });
    const devices = [{ name: 'one', containerEdits: { env: ['GIVEN=one'], deviceNodes: [{ path: '/dev/given', hostPath: '/dev/null' }] } }];
    await writeFile(file, JSON.stringify({ cdiVersion: '0.5.0', kind, devices }));
  });
  afterEach(async () => {
    await world.dispose();
    await rm(file);
  });

  test('are there in a container where the runtime can; else, and where there is none of that name, it is not made', async () => {
    const script = '[ "$GIVEN" = one ] && echo x >/dev/given';
    if (!(await hasCdi())) {
      await assert.rejects(world.run(script, { cdiDevices: [`${kind}=one`] }), /this runtime has no CDI, by which it is named/);
      return;
    }
    const { pod, id } = await world.run(script, { cdiDevices: [`${kind}=one`] });
    assert.equal((await world.ended(pod, id)).exitCode, 0);
    await assert.rejects(world.run(script, { cdiDevices: [`${kind}=other`] }), /unresolvable CDI devices/);
  });
});
