import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';

/** The scripts of `rxlet completion`, in the shells that they are for. */
const dir = mkdtempSync(join(tmpdir(), 'rxlet-completions-'));
after(() => rmSync(dir, { recursive: true }));
mkdirSync(join(dir, 'bin'));
mkdirSync(join(dir, 'files/sub'), { recursive: true });
for (const name of ['a.yaml', 'b.yaml']) writeFileSync(join(dir, 'files', name), '');
symlinkSync(resolve(import.meta.dirname, '../../bin/rxlet'), join(dir, 'bin/rxlet'));
const env = { ...process.env, PATH: `${join(dir, 'bin')}${delimiter}${process.env['PATH']}`, HOME: dir, TERM: 'dumb' };
const run = (program: string, ...argv: readonly string[]): string =>
  execFileSync(program, argv, { cwd: dir, env, encoding: 'utf8', timeout: 60_000, stdio: ['ignore', 'pipe', 'pipe'] });
for (const [shell, name] of [
  ['bash', 'rxlet.bash'],
  ['zsh', '_rxlet'],
  ['fish', 'rxlet.fish'],
] as const)
  writeFileSync(join(dir, name), run(join(dir, 'bin/rxlet'), 'completion', shell));

/** As a word that is typed at the end of the line would become; of `--flag=PATH` the path alone where the shell completes that. */
const lines: readonly (readonly [line: string, becomes: readonly string[]])[] = [
  ['rxlet lo', ['logs']],
  ['rxlet --node-la', ['--node-labels']],
  ['rxlet completion ', ['bash', 'fish', 'zsh']],
  ['rxlet validate files/a', ['files/a.yaml']],
  ['rxlet --config=files/b', ['files/b.yaml']],
  ['rxlet --root-dir=files/s', ['files/sub']],
];

describe('completion in bash', () => {
  /** Without a terminal there is no completion that options could be of. */
  const script = 'compopt() { :; }; source ./rxlet.bash; COMP_LINE=$1 COMP_POINT=${#1}; _rxlet; printf "%s\\n" "${COMPREPLY[@]}"';
  for (const [line, becomes] of lines)
    test(line, () => assert.deepEqual(run('bash', '-c', script, 'bash', line).trim().split('\n'), becomes));
});

describe('completion in fish', () => {
  for (const [line, becomes] of lines)
    test(line, () => {
      const [, flag = ''] = /(--[\w-]+=)\S*$/.exec(line) ?? [];
      const found = run('fish', '--no-config', '-c', 'source ./rxlet.fish; complete -C $argv[1]', line).trim().split('\n');
      assert.deepEqual(
        found.map((word) => word.replace(/\/$/, '')),
        becomes.map((word) => `${flag}${word}`),
      );
    });
});

describe('completion in zsh', () => {
  /** A terminal, for only there zsh completes: what has come of the line is waited for. */
  const script = [
    'zmodload zsh/zpty; zpty z zsh -f -i',
    `zpty -w z "PROMPT=; fpath=($PWD \\$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word; print REA''DY"`,
    "zpty -r z said '*READY*'",
    'zpty -w -n z "$1"$\'\\t\\t\'',
    'zpty -r z said "*$2*" && print found; zpty -d z',
  ].join('\n');
  for (const [line, becomes] of lines)
    test(line, () => assert.equal(run('zsh', '-f', '-c', script, 'zsh', line, becomes.join('*')).trim(), 'found'));
});
