import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '../../../../src/base/clock.ts';
import { nodeLogRoutes } from '../../../../src/server/routes/node-log-routes.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { serveRoutes, type ServedRoutes } from '../../../fakes/served-routes.ts';

let root: string;
let served: ServedRoutes | undefined;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'service-logs-')));
  mkdirSync(join(root, 'log/cron'), { recursive: true });
  writeFileSync(join(root, 'log/app.log'), 'one\ntwo\n');
  writeFileSync(join(root, 'log/cron/cron.log'), 'tick\n');
  writeFileSync(join(root, 'secret'), 'secret\n');
  symlinkSync('../secret', join(root, 'log/leak.log'));
});
afterEach(async () => {
  await served?.close();
  served = undefined;
  rmSync(root, { recursive: true });
});

/** A journal that knows the units docker and slow, and does for their logs what `body` says. */
async function serve(body = 'echo "logs: $*"', over: { readonly clock?: FakeClock; readonly journalctl?: string } = {}): Promise<void> {
  const journalctl = join(root, 'journalctl');
  const units = 'if [ "$1" = --field ]; then echo docker.service; echo slow.service; exit; fi';
  writeFileSync(journalctl, `#!/bin/sh\n${units}\n${body}\n`, { mode: 0o755 });
  served = await serveRoutes(
    nodeLogRoutes({ directory: join(root, 'log'), queries: { journalctl, mostBytes: 100_000, clock: systemClock, ...over } }),
  );
}
async function ask(path: string): Promise<readonly [status: number, text: string]> {
  const answer = await fetch(`${served?.url}${path}`);
  return [answer.status, await answer.text()];
}

describe('a log query', () => {
  test('of a unit answers with its journal, errors of it included', async () => {
    await serve('echo "logs: $*"; echo "No data" >&2; exit 1');
    const [status, text] = await ask('/logs/?query=docker&tailLines=2');
    assert.equal(status, 200);
    assert.match(text, /^logs: --utc --no-pager --output=short-precise --pager-end --lines=2 --unit=docker$/m);
    assert.match(text, /^No data$/m);
  });

  test('of what is no unit answers with its file, without options only, and never with one elsewhere', async () => {
    await serve();
    assert.deepEqual(await ask('/logs/?query=app&query=cron'), [200, 'one\ntwo\ntick\n']);
    assert.deepEqual(await ask('/logs/?query=none&query=leak'), [200, '\nlog not found for none\n\nlog not found for leak\n']);
    assert.deepEqual(await ask('/logs/?query=app&boot=0'), [
      200,
      '\noptions present and query resolved to log files for [app]\ntry without specifying options\n',
    ]);
  });

  test('on a node without a journal finds files', async () => {
    await serve('', { journalctl: '/does/not/exist' });
    assert.deepEqual(await ask('/logs/?query=app'), [200, 'one\ntwo\n']);
  });

  test('of a file answers with it, and what may not be asked is refused', async () => {
    await serve();
    assert.deepEqual(await ask('/logs/?query=/app.log'), [200, 'one\ntwo\n']);
    const missing = join(root, 'log/none.log');
    assert.deepEqual(await ask('/logs/?query=/none.log'), [
      406,
      `query: Invalid value: ["/none.log"]: stat ${missing}: no such file or directory\n`,
    ]);
    assert.equal((await ask('/logs/?query=/../secret'))[0], 406);
    assert.equal((await ask('/logs/?query=a%20b'))[0], 406);
    assert.deepEqual(await ask('/logs/app.log'), [200, 'one\ntwo\n']);
  });

  test('that is not enabled is not looked at', async () => {
    served = await serveRoutes(nodeLogRoutes({ directory: join(root, 'log') }));
    assert.equal((await ask('/logs/app.log?query=docker'))[0], 200);
  });

  /** Resolves when nothing of the process is left. */
  async function gone(pid: number): Promise<void> {
    for (;;) {
      try {
        if (/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return;
      } catch {
        return;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  test('whose reader goes away leaves no journalctl behind, nor what that has started', async () => {
    await serve('sleep 1000 & echo $!; wait');
    const pid = await new Promise<number>((resolve, reject) => {
      const asked = request(`${served?.url}/logs/?query=slow`, (answer) => {
        answer.once('data', (bytes: Buffer) => {
          asked.destroy();
          resolve(Number(bytes.toString()));
        });
      });
      asked.on('error', reject).end();
    });
    await gone(pid);
  });

  test('that takes too long ends and says so', async () => {
    const clock = new FakeClock();
    await serve('sleep 1000 & echo $!; wait', { clock });
    const answer = await fetch(`${served?.url}/logs/?query=slow`);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = await reader?.read();
    await clock.advance(30_000);
    assert.equal((await reader?.read())?.value, '\nerror: reading the logs took longer than 30 s\n');
    await gone(Number(first?.value));
  });

  test('of a journal without an end is cut', async () => {
    await serve('exec cat /dev/zero');
    const answer = await fetch(`${served?.url}/logs/?query=docker`);
    let size = 0;
    let last = '';
    for await (const piece of answer.body ?? []) {
      size += piece.length;
      last = Buffer.from(piece.slice(-100)).toString();
    }
    assert.ok(size < 101_000, `${size} bytes`);
    assert.ok(last.endsWith('\nerror: only the first 100000 bytes are shown\n'));
  });
});
