import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { systemdSlices } from '../../../src/cgroups/systemd-slices.ts';

/** Stands for systemd's programs: writes down what they are asked, and does as it is told. */
async function systemd(t: TestContext, script = '') {
  const dir = await mkdtemp(join(tmpdir(), 'rxlet-slices-'));
  t.after(() => rm(dir, { recursive: true }));
  for (const name of ['busctl', 'systemctl']) {
    await writeFile(join(dir, name), `#!/bin/sh\necho ${name} "$@" >>${dir}/asked\n${script}\n`);
    await chmod(join(dir, name), 0o755);
  }
  const asked = async (): Promise<readonly string[]> => (await readFile(join(dir, 'asked'), 'utf8')).trim().split('\n');
  return { slices: systemdSlices(systemClock, `${dir}/`), asked };
}

const pod = ['kubepods', 'burstable', 'pod12-34'];
const unit = 'kubepods-burstable-pod12_34.slice';
const start = `busctl call org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager StartTransientUnit ssa(sv)a(sa(sv)) ${unit} replace 1 DefaultDependencies b false 0`;

test('a slice is started, and told of the limits that systemd knows', async (t) => {
  const { slices, asked } = await systemd(t);
  await slices.set(pod, { cpuShares: 1024, cpuQuota: 12_500, cpuPeriod: 100_000, memory: 2 ** 26, pidsLimit: 100 });
  await slices.set(pod, { cpuShares: 2, cpuQuota: -1, cpuPeriod: 100_000 });
  await slices.set(pod, {});
  assert.deepEqual(await asked(), [
    start,
    `systemctl set-property --runtime ${unit} CPUWeight=39 CPUQuota=13% MemoryMax=67108864 TasksMax=100`,
    start,
    `systemctl set-property --runtime ${unit} CPUWeight=1 CPUQuota=`,
    start,
  ]);
});

test('a slice that is there already, or gone already, is as it should be; what else fails is told with the command', async (t) => {
  const there = await systemd(t, `echo "Call failed: Unit ${unit} was already loaded or has a fragment file." >&2; exit 1`);
  await there.slices.set(pod, {});
  const gone = await systemd(t, `echo "Failed to stop ${unit}: Unit ${unit} not loaded." >&2; exit 5`);
  await gone.slices.stop(pod);
  const broken = await systemd(t, 'echo "Access denied" >&2; exit 1');
  await assert.rejects(broken.slices.stop(pod), { message: `systemctl stop ${unit} failed: Access denied` });
  await assert.rejects(systemdSlices(systemClock, '/nowhere/').set(pod, {}), /busctl call .* failed: .*ENOENT/);
});
