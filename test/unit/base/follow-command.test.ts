import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { followCommand } from '../../../src/base/follow-command.ts';

test('what a program says is heard line by line, bounded, and its end rejects with the last of its errors', async () => {
  const said: string[] = [];
  const script = `echo one; printf 'two\\nhalf'; head -c 200000 /dev/zero | tr '\\0' x; echo; echo broken >&2; exit 3`;
  const { signal } = new AbortController();
  await assert.rejects(
    followCommand('sh', ['-c', script], { onLine: (line) => said.push(line) }, signal),
    /^Error: sh ended \(exit code 3\): broken$/,
  );
  assert.deepEqual(said.slice(0, 2), ['one', 'two']);
  assert.ok((said[2]?.length ?? 0) <= 64 << 10);
});

test('a program that is missing is named', async () => {
  await assert.rejects(followCommand('no-such-program', [], {}, new AbortController().signal), /no-such-program ended .*No such file/);
});

test('an abort ends it with all that it started, and waits for nothing', async () => {
  const stop = new AbortController();
  const pids = Promise.withResolvers<string>();
  const script = `trap '' TERM; sleep 1000 & echo $$ $!; cat >/dev/null`;
  const following = followCommand('sh', ['-c', script], { onLine: pids.resolve }, stop.signal);
  const [own, child] = (await pids.promise).split(' ').map(Number);
  stop.abort(new Error('enough'));
  await assert.rejects(following, /enough/);
  for (const pid of [own, child]) await ended(pid ?? 0);
});

/** Gone, or left for others to reap. */
async function ended(pid: number): Promise<void> {
  for (;;) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    if (stat === undefined || /^\) [ZX] /.test(stat.slice(stat.lastIndexOf(')')))) return;
    await setImmediate();
  }
}
