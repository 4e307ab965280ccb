import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { takeLaunch } from '../../../src/base/launch.ts';

const root = mkdtempSync(join(tmpdir(), 'rxlet-launch-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** What a program starts with that the launcher starts in this environment. */
function launched(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  for (const directory of ['bin', 'dist']) mkdirSync(join(root, directory), { recursive: true });
  copyFileSync(resolve(import.meta.dirname, '../../../bin/rxlet'), join(root, 'bin/rxlet'));
  writeFileSync(join(root, 'dist/rxlet.js'), 'console.log(JSON.stringify(process.env))');
  const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
  const { stdout, stderr } = spawnSync(join(root, 'bin/rxlet'), [], { encoding: 'utf8', env: { PATH, ...env } });
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

test('the agent has one heap for its threads, and the programs that it starts are as without that', () => {
  const env = launched({ LANG: 'C' });
  assert.equal(env['MALLOC_ARENA_MAX'], '1');
  assert.equal(takeLaunch(env), join(root, 'bin/rxlet'));
  assert.deepEqual(
    Object.keys(env).filter((name) => /RXLET|MALLOC/.test(name)),
    [],
  );
  assert.equal(env['LANG'], 'C');
});

test('what the user has set stays, for the agent and for what it starts', () => {
  const env = launched({ MALLOC_ARENA_MAX: '4' });
  takeLaunch(env);
  assert.equal(env['MALLOC_ARENA_MAX'], '4');
});

test('a process that no launcher has started keeps its environment', () => {
  const env = { MALLOC_ARENA_MAX: '1' };
  assert.equal(takeLaunch(env), undefined);
  assert.deepEqual(env, { MALLOC_ARENA_MAX: '1' });
});
