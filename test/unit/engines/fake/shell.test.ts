import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ContainerProcess } from '../../../../src/engines/fake/container-process.ts';
import { programOf } from '../../../../src/engines/fake/shell.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const HOUR_MS = 3_600_000;

/** How the command ends within an hour when SIGTERM comes at `termAtMs`: [exit code, ms], or undefined. */
async function life(argv: readonly string[], termAtMs?: number): Promise<readonly [code: number, atMs: number] | undefined> {
  const clock = new FakeClock();
  let end: readonly [number, number] | undefined;
  const program = programOf(argv, new Map([['CODE', '5']]), () => {});
  const process = new ContainerProcess(program, clock, (code) => {
    end = [code, clock.now()];
  });
  process.start();
  if (termAtMs !== undefined) {
    await clock.advance(termAtMs);
    process.terminate();
  }
  await clock.advance(HOUR_MS - (termAtMs ?? 0));
  const lived = end;
  if (!end) process.kill();
  assert.equal(clock.actions.length, 0, 'a timer is left');
  return lived;
}

for (const [script, end] of [
  ['', [0, 0]],
  ['exit 3', [3, 0]],
  ['exit 259', [3, 0]],
  ['exit $CODE', [5, 0]],
  ['exit "${CODE}"', [5, 0]],
  ["echo 'exit 1'; exit 2 # exit 3", [2, 0]],
  ['false', [1, 0]],
  ['false; exit', [1, 0]],
  ['! false', [0, 0]],
  ['exit "$MISSING"', [0, 0]],
  ['CODE=7; exit $CODE', [7, 0]],
  ['export CODE=8 X=9\nexit $CODE', [8, 0]],
  ['false || exit 4', [4, 0]],
  ['true && exit 4', [4, 0]],
  ['false && exit 4; exit 6', [6, 0]],
  ['false && true || exit 9', [9, 0]],
  ['sleep 2; exit 3', [3, 2000]],
  ['sleep 0.5', [0, 500]],
  ['sleep 1m 1s', [0, 61_000]],
  ['/bin/sleep 1', [0, 1000]],
  ['echo hello > /tmp/x 2>&1; cat < /tmp/x; sleep 1', [0, 1000]],
  ['echo "it is $(date +%s; (echo))"; sleep 1', [0, 1000]],
  ['echo `date; exit 4`; sleep 1', [0, 1000]],
  ['echo a | grep a; exit $?', [0, 0]],
  ['true | false', [1, 0]],
  ['(exit 3); exit $?', [3, 0]],
  ['{ sleep 1; exit 3; }', [3, 1000]],
  ['sh -c "exit 4"', [4, 0]],
  ['exec sleep 3', [0, 3000]],
  ['if [ "$CODE" = 5 ]; then exit 1; else exit 2; fi', [1, 0]],
  ['if test $CODE -gt 5; then exit 1; elif [ -n "$CODE" ]; then exit 2; fi', [2, 0]],
  ['if [ -f /data/marker ]; then exit 1; fi; exit 2', [2, 0]],
  ['[ ! -e /data/marker ] && exit 3', [3, 0]],
  ['for i in 1 2 3; do sleep 1; done', [0, 3000]],
  ['for i in 1 2 3; do if [ $i = 2 ]; then break; fi; sleep 1; done', [0, 1000]],
  ['for i in 1 2 3; do if [ $i = 2 ]; then continue; fi; sleep 1; done', [0, 2000]],
  ['while true; do sleep 1; exit 2; done', [2, 1000]],
  ['until false; do sleep 1; break; done; exit 3', [3, 1000]],
  ['while false; do sleep 1; done', [0, 0]],
  ['sleep 5 & sleep 1; exit 3', [3, 1000]],
  ['sleep 5 & wait; exit 3', [3, 5000]],
  ['/nonexistent/x', [127, 0]],
  ['while true; do sleep 1; done', undefined],
  ['while :; do echo "hello from $HOSTNAME, it is $(date)" > /content/index.html; sleep 1; done', undefined],
  ['while :; do :; done', undefined],
  ['sleep infinity', undefined],
  ['tail -f /dev/null', undefined],
  ['exec myserver --port 80', undefined],
  ['if true', [2, 0]],
  ["echo 'never closed", [2, 0]],
  ['sh -c "if"', [2, 0]],
] as const)
  test(`sh -c '${script}' ${end ? `ends ${end[0]} after ${end[1]} ms` : 'runs on'}`, async () => {
    assert.deepEqual(await life(['sh', '-c', script]), end);
  });

for (const [argv, end] of [
  [
    ['sleep', '3'],
    [0, 3000],
  ],
  [['true'], [0, 0]],
  [['/bin/false'], [1, 0]],
  [
    ['sh', '-ec', 'exit 3'],
    [3, 0],
  ],
  [
    ['/bin/bash', '-c', 'exit 3'],
    [3, 0],
  ],
  [['httpd', '-f', '-p', '80'], undefined],
  [[], undefined],
] as const)
  test(`${JSON.stringify(argv)} ${end ? `ends ${end[0]} after ${end[1]} ms` : 'runs on'}`, async () => {
    assert.deepEqual(await life(argv), end);
  });

for (const [what, argv, end] of [
  ['a shell without a trap does not hear it', ['sh', '-c', 'sleep 1000'], [0, 1_000_000]],
  ['nor does sleep as process 1', ['sleep', '1000'], [0, 1_000_000]],
  ['a server ends', ['httpd', '-f'], [0, 500]],
  ['a program that a shell became ends', ['sh', '-c', 'exec nginx'], [0, 500]],
  ['a trap runs when `wait` is interrupted', ['sh', '-c', 'trap "exit 7" TERM; sleep 1000 & wait'], [7, 500]],
  ['a trap waits for the command in the foreground', ['sh', '-c', 'trap "exit 7" SIGTERM; sleep 10; exit 3'], [7, 10_000]],
  ['a trap may take its time', ['sh', '-c', 'trap "sleep 2; exit 7" 15; sleep 1000 & wait'], [7, 2500]],
  ['a trap without an exit goes on', ['sh', '-c', 'trap : TERM; sleep 1000 & wait; exit 3'], [3, 500]],
  ['`wait` tells the signal', ['sh', '-c', 'trap : TERM; sleep 1000 & wait; exit $?'], [143, 500]],
  ['an empty trap ignores it', ['sh', '-c', 'trap "" TERM; sleep 10 & wait'], [0, 10_000]],
  ['a trap taken back', ['sh', '-c', 'trap "exit 7" TERM; trap - TERM; sleep 10 & wait'], [0, 10_000]],
  ['a trap that was not set yet', ['sh', '-c', 'sleep 1; trap "exit 7" TERM; sleep 10 & wait'], [0, 11_000]],
  ['a trap for another signal', ['sh', '-c', 'trap "exit 7" INT; sleep 10 & wait'], [0, 10_000]],
  ['a loop ends with its turn', ['sh', '-c', 'trap "exit 7" TERM; while :; do sleep 1; done'], [7, 1000]],
] as const)
  test(`SIGTERM after 500 ms: ${what}`, async () => {
    assert.deepEqual(await life(argv, 500), end);
  });

test('no script, however odd, throws or keeps the engine busy', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'while',
      'do',
      'done',
      'if',
      'then',
      'fi',
      'for',
      'in',
      'i',
      '{',
      '}',
      '(',
      ')',
      '!',
      ';',
      '&',
      '&&',
      '||',
      '|',
      '\n',
      '>',
    ),
    fc.constantFrom(
      'true',
      'false',
      ':',
      'exit 1',
      'sleep 1',
      'wait',
      'break',
      'trap "exit 1" TERM',
      '"$i"',
      '$(date)',
      "'",
      '"',
      '`',
      '#',
    ),
    fc.string({ maxLength: 4 }),
  );
  const script = fc.array(word, { maxLength: 14 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(script, fc.nat(3), (text, termAt) => {
      const { run, onTerm } = programOf(['sh', '-c', text], new Map(), () => {});
      for (let turn = 0; turn < 10; turn++) {
        const heard = turn === termAt && onTerm();
        if (run.next(heard ? 'signalled' : 'elapsed').done) return;
      }
    }),
    { numRuns: 2000 },
  );
});
