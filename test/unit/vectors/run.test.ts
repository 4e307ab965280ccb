import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';

const runner = resolve(import.meta.dirname, '../../vectors/run.ts');
const directory = mkdtempSync(join(tmpdir(), 'vectors-'));
after(() => rmSync(directory, { recursive: true }));

const suite = (name: string, ...cases: readonly object[]): void =>
  writeFileSync(join(directory, `${name}.json`), JSON.stringify({ suite: name, doc: 'd', cases }));

function run(...argv: readonly string[]): { readonly code: number | null; readonly last: readonly string[]; readonly out: string } {
  const { status, stdout } = spawnSync(process.execPath, [runner, ...argv], { encoding: 'utf8' });
  return { code: status, last: stdout.trim().split('\n').slice(-2), out: stdout };
}

test('every case of a suite is tried, and a suite without an adapter counts as failed unless it is skipped', () => {
  suite('qos', { name: 'nothing asked for', in: { pod: { spec: { containers: [{ name: 'a' }] } } }, out: 'BestEffort' });
  assert.deepEqual(run(directory), { code: 0, last: ['qos: 1 of 1', '1 passed, 0 failed'], out: 'qos: 1 of 1\n1 passed, 0 failed\n' });
  suite('mystery', { name: 'a', in: 1, out: 2 }, { name: 'b', in: 1, out: 2 });
  assert.deepEqual([run(directory).code, run(directory).last], [1, ['no adapter: mystery', '1 passed, 2 failed']]);
  const skipped = run(directory, '--skip-unknown');
  assert.deepEqual([skipped.code, skipped.last], [0, ['no adapter (skipped): mystery', '1 passed, 0 failed']]);
});

test('a case that does not hold is shown, and a suite that cannot be read is named', () => {
  suite('qos', { name: 'wrong', in: { pod: { spec: { containers: [{ name: 'a' }] } } }, out: 'Guaranteed' });
  rmSync(join(directory, 'mystery.json'), { force: true });
  assert.match(run(directory).out, /^FAIL qos: wrong\n.*\n  expected: "Guaranteed"\n  actual: .*\nqos: 0 of 1\n0 passed, 1 failed\n$/);
  writeFileSync(join(directory, 'qos.json'), '{');
  assert.match(run(directory).out, /^FAIL \S+qos\.json: .*JSON.*\n0 passed, 1 failed\n$/);
  assert.equal(run(directory, '--skip-unkown').code, 2);
});
