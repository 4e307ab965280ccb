import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpError } from '../../../../src/ports/route.ts';
import { execQuery } from '../../../../src/server/streaming/exec-query.ts';

const off = { stdin: false, stdout: false, stderr: false, tty: false };
const cases: readonly [query: string, command: string[], wanted: Partial<typeof off>][] = [
  ['command=ls&command=-l&command=a%20b&output=1&error=1', ['ls', '-l', 'a b'], { stdout: true, stderr: true }],
  ['input=1', [], { stdin: true }],
  ['stdin=true&stdout=true&stderr=true', [], { stdin: true, stdout: true, stderr: true }],
  ['output=1&error=1&tty=1', [], { stdout: true, tty: true }],
  ['output=1&input=0&error=false', [], { stdout: true }],
  ['command=&output=1', [''], { stdout: true }],
];
for (const [query, command, wanted] of cases) {
  test(query, () => assert.deepEqual(execQuery(new URLSearchParams(query)), { command, wanted: { ...off, ...wanted } }));
}

for (const query of ['', 'tty=1', 'error=1&tty=1', 'output=0', 'output=yes']) {
  test(`"${query}" wants nothing`, () => {
    assert.throws(
      () => execQuery(new URLSearchParams(query)),
      (error) =>
        error instanceof HttpError && error.status === 400 && error.message === 'you must specify at least 1 of stdin, stdout, stderr',
    );
  });
}
