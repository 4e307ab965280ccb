import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { keepKernelDefaults } from '../../../src/node/kernel-defaults.ts';
import { aMachine } from '../../builders/a-machine.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const asWanted = {
  'proc/sys/vm/overcommit_memory': '1\n',
  'proc/sys/vm/panic_on_oom': '0\n',
  'proc/sys/kernel/panic': '10\n',
  'proc/sys/kernel/panic_on_oops': '1\n',
  'proc/sys/kernel/keys/root_maxkeys': '1000000\n',
  'proc/sys/kernel/keys/root_maxbytes': '25000000\n',
};

async function aKernel(t: TestContext, files: Readonly<Record<string, string>>) {
  const machine = await aMachine(files);
  t.after(() => machine.remove());
  const log = new RecordingLogger();
  return {
    log,
    keep: (protect: boolean | undefined) => keepKernelDefaults(protect, { root: machine.root, log }),
    panic: () => readFile(machine.at('proc/sys/kernel/panic'), 'utf8'),
  };
}

test('a kernel that is set as wanted is let be', async (t) => {
  const { keep, log } = await aKernel(t, asWanted);
  for (const protect of [true, false, undefined]) await keep(protect);
  assert.deepEqual(log.lines, []);
});

test('protectKernelDefaults true refuses another, by each setting', async (t) => {
  const { keep, panic } = await aKernel(t, { ...asWanted, 'proc/sys/kernel/panic': '0\n', 'proc/sys/vm/panic_on_oom': '1\n' });
  await assert.rejects(
    keep(true),
    /: invalid kernel flag: vm\/panic_on_oom, expected value: 0, actual value: 1; invalid kernel flag: kernel\/panic, expected value: 10, actual value: 0: set them/,
  );
  assert.equal(await panic(), '0\n');
});

test('false sets them and says so, unset leaves them', async (t) => {
  const { keep, panic, log } = await aKernel(t, { ...asWanted, 'proc/sys/kernel/panic': '0\n' });
  await keep(undefined);
  assert.equal(await panic(), '0\n');
  await keep(false);
  assert.equal(await panic(), '10');
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields['setting'], fields['from'], fields['to']]),
    [['info', 'kernel.panic', '0', '10']],
  );
});

test('a setting that cannot be read is logged, and the others count', async (t) => {
  const { 'proc/sys/kernel/keys/root_maxkeys': _, ...others } = asWanted;
  const { keep, log } = await aKernel(t, others);
  await keep(true);
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields['setting']]),
    [['warn', 'kernel.keys.root_maxkeys']],
  );
});
