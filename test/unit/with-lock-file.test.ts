import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { aborted } from '../../src/base/aborted.ts';
import { withLockFile } from '../../src/with-lock-file.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';

const run = promisify(execFile);

/** Stands in for inotifywait: says what is written to a file beside it. */
const WATCH = `#!/bin/sh
[ "$*" = "--monitor --format %e --event open --event delete_self $(dirname "$0")/lock" ] || exit 9
echo 'Watches established.' >&2
until [ -s "$0.says" ]; do sleep 0.05; done
cat "$0.says"; sleep 1000
`;

async function setUp(t: TestContext, watch: string | undefined) {
  const dir = await mkdtemp(join(tmpdir(), 'rxlet-lock-'));
  t.after(() => rm(dir, { recursive: true }));
  const { PATH = '' } = process.env;
  if (watch !== undefined) {
    await writeFile(join(dir, 'inotifywait'), watch);
    await chmod(join(dir, 'inotifywait'), 0o755);
    process.env['PATH'] = `${dir}${delimiter}${PATH}`;
    t.after(() => void (process.env['PATH'] = PATH));
  }
  const [log, stop, lockFile] = [new RecordingLogger(), new AbortController(), join(dir, 'lock')];
  const agent = Promise.withResolvers<void>();
  const start = (exitOnLockContention: boolean): Promise<number> =>
    withLockFile({ lockFile, exitOnLockContention }, log, stop.signal, async (until) => {
      agent.resolve();
      await aborted(until);
      return 0;
    });
  return { dir, log, stop, lockFile, runs: agent.promise, start };
}

test('the agent runs while the file is locked, and without --exit-on-lock-contention nobody is watched for', async (t) => {
  const { stop, lockFile, runs, start } = await setUp(t, 'exit 1');
  const ended = start(false);
  await runs;
  await assert.rejects(run('flock', ['--nonblock', lockFile, 'true']));
  stop.abort();
  assert.equal(await ended, 0);
  await run('flock', ['--nonblock', lockFile, 'true']);
});

test('with it the agent ends well when another process opens the file', async (t) => {
  const { dir, log, runs, start } = await setUp(t, WATCH);
  const ended = start(true);
  await runs;
  await writeFile(join(dir, 'inotifywait.says'), 'OPEN\nOPEN\n');
  assert.equal(await ended, 0);
  const said = log.lines.filter(({ level }) => level === 'warn');
  assert.deepEqual(
    said.map(({ fields }) => fields['event']),
    ['OPEN'],
  );
});

test('a watch that cannot be is an error with what to do, before the agent runs', async (t) => {
  const { start } = await setUp(t, '#!/bin/sh\necho "upper limit on inotify watches reached" >&2; exit 1\n');
  await assert.rejects(start(true), (error: Error) => {
    assert.match(error.message, /inotifywait is needed \(Debian: inotify-tools\)/);
    assert.match(String(error.cause), /upper limit/);
    return true;
  });
});

test('where the lock cannot be, the option and the path are named; a stop during the wait is no failure', async (t) => {
  const { dir, log, stop, lockFile, start } = await setUp(t, undefined);
  const elsewhere = withLockFile({ lockFile: join(dir, 'no/lock'), exitOnLockContention: false }, log, stop.signal, async () => 0);
  await assert.rejects(elsewhere, /unable to acquire file lock on ".*no\/lock" \(--lock-file\)/);
  const holding = run('flock', ['--no-fork', lockFile, 'sh', '-c', `echo held >${dir}/held; exec sleep 1000`]);
  t.after(() => void holding.child.kill('SIGKILL'));
  holding.catch(() => {});
  while ((await readFile(join(dir, 'held'), 'utf8').catch(() => '')) === '') await new Promise((resolve) => setImmediate(resolve));
  const waits = log.next('the lock file is locked by another process, and waited for');
  const ended = start(false);
  assert.match(String((await waits).fields['holder']), /sleep|sh, process \d+/);
  stop.abort();
  assert.equal(await ended, 0);
});

test('a stop is heard although the watch has not begun yet', async (t) => {
  const { dir, stop, start } = await setUp(t, '#!/bin/sh\necho started >"$(dirname "$0")/started"; sleep 1000\n');
  const ended = start(true);
  while ((await readFile(join(dir, 'started'), 'utf8').catch(() => '')) === '') await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  assert.equal(await ended, 0);
});
