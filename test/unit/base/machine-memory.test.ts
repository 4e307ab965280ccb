import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMachineMemory } from '../../../src/base/machine-memory.ts';
import { aMachine } from '../../builders/a-machine.ts';

const info = (swap: string): string =>
  `MemTotal:        8000000 kB\nMemFree:             1 kB\nSwapTotal:       ${swap} kB\nSwapFree:       0 kB\n`;

const cases = [
  ['cgroup v2, whose root has no limits', 2, '0::/system.slice/agent.service\n', 'cgroup/system.slice/agent.service/memory.swap.max', true],
  ['cgroup v2 without a limit of swap', 2, '0::/system.slice/agent.service\n', 'cgroup/memory.swap.max', false],
  ['cgroup v1', 1, '4:memory:/x\n', 'cgroup/memory/memory.memsw.limit_in_bytes', true],
  ['cgroup v1 without a limit of swap', 1, '4:memory:/x\n', 'cgroup/memory/memory.limit_in_bytes', false],
] as const;
for (const [name, version, own, file, limitsSwap] of cases)
  test(`memory and swap are read, and whether swap can be limited: ${name}`, async (t) => {
    const machine = await aMachine({ 'proc/meminfo': info('1024'), 'proc/self/cgroup': own, [file]: 'max\n' });
    t.after(() => machine.remove());
    const memory = await readMachineMemory({ root: machine.at('cgroup'), version }, machine.at('proc'));
    assert.deepEqual(memory, { bytes: 8_192_000_000, swapBytes: 2 ** 20, limitsSwap });
  });

test('a number that no machine has is none, and a machine that tells nothing has nothing', async (t) => {
  const machine = await aMachine({ 'proc/meminfo': info('99999999999999999999') });
  t.after(() => machine.remove());
  const read = (proc: string) => readMachineMemory({ root: machine.at('cgroup'), version: 2 }, machine.at(proc));
  assert.deepEqual(await read('proc'), { bytes: 8_192_000_000, swapBytes: 0, limitsSwap: false });
  assert.deepEqual(await read('nothing'), { bytes: 0, swapBytes: 0, limitsSwap: false });
});
