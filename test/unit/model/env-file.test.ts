import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EnvFileError, envFileValue } from '../../../src/model/env-file.ts';

test('a value goes on over lines, and its first line counts', () => {
  assert.equal(envFileValue("# a comment\nA='one\ntwo' # more\nA='three'\n", 'A', 'f'), 'one\ntwo');
});

test('what follows the key is not read', () => {
  assert.equal(envFileValue("A='one'\nno assignment", 'A', 'f'), 'one');
});

test('a line as long as Go reads is taken, a longer one is refused with the name of the file', () => {
  const longest = `A='${'x'.repeat(65_535 - 4)}'`;
  assert.equal(envFileValue(longest, 'A', 'f').length, 65_531);
  const fault = { name: EnvFileError.name, message: 'error reading environment variable file "f": bufio.Scanner: token too long' };
  assert.throws(() => envFileValue(`A=${'x'.repeat(65_534)}`, 'A', 'f'), fault);
});
