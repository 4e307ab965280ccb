import assert from 'node:assert/strict';
import { mkdir, symlink } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { capability } from '../../../src/cgroups/capability.ts';
import { CgroupManager } from '../../../src/cgroups/cgroup-manager.ts';
import { moveSystemProcesses } from '../../../src/cgroups/system-processes.ts';
import { aMachine } from '../../builders/a-machine.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';
import { CgroupsInMemory, failure } from '../../fakes/cgroups-in-memory.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';

/** A machine with these processes in its root cgroup, of which 2 and 3 are the kernel's. */
async function aRoot(t: TestContext, ...pids: readonly number[]) {
  const machine = await aMachine({ 'proc/version': '' });
  t.after(() => machine.remove());
  const fs = new CgroupsInMemory();
  fs.has('/', {}, ...pids);
  for (const pid of pids) {
    await mkdir(machine.at(`proc/${pid}`));
    if (pid !== 2 && pid !== 3) await symlink('/bin/sh', machine.at(`proc/${pid}/exe`));
  }
  const manager = new CgroupManager({
    fs,
    driver: 'systemd',
    slices: undefined,
    hugePageSizes: new Map(),
    clock: new FakeClock(),
    tell: silentHappenings,
  });
  return { fs, move: () => moveSystemProcesses('/system', { manager, proc: machine.at('proc') }) };
}

test("the first process, the kernel's own and those of another process namespace stay in the root cgroup, all others go", async (t) => {
  const { fs, move } = await aRoot(t, 0, 1, 2, 3, 40, 41);
  assert.equal(await move(), 2);
  assert.deepEqual([await fs.members('/'), await fs.members('/system')], [new Set([0, 1, 2, 3]), new Set([40, 41])]);
  assert.equal(await move(), 0);
});

test('a process that cannot be moved is named, the others go, and one that has ended is no fault', async (t) => {
  const { fs, move } = await aRoot(t, 40, 41, 42);
  const enter = fs.enter.bind(fs);
  fs.enter = async (path, pid) => {
    if (pid === 41) throw failure('EINVAL');
    await enter(path, pid);
    if (pid === 40) throw failure('ESRCH');
  };
  await assert.rejects(move(), { message: 'process 41 cannot be moved to cgroup /system: EINVAL: as told' });
  assert.deepEqual(await fs.members('/system'), new Set([40, 42]));
});

test('the root cannot be what processes are moved into, and without cgroups for pods it is said that none is', (t) => {
  for (const systemCgroups of ['/', 'a/..', '//']) {
    const { node } = nodeUnderTest({ options: { systemCgroups } });
    t.after(() => node.engine.close());
    assert.throws(() => capability(node), { message: 'invalid configuration: systemCgroups (--system-cgroups) cannot be the root "/"' });
  }
  const { node, log } = nodeUnderTest({ options: { systemCgroups: '/system', cgroupsPerQos: false } });
  t.after(() => node.engine.close());
  assert.deepEqual(capability(node), {});
  assert.deepEqual(
    log.lines.map(({ message }) => message),
    ['no process is moved to a cgroup: that takes cgroupsPerQOS'],
  );
});
