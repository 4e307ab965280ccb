import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EnvFile, EnvFileError } from '../../../src/model/env-file.ts';

test('a value goes on over lines, and its first line counts', () => {
  assert.equal(new EnvFile("# a comment\nA='one\ntwo' # more\nA='three'\n", 'f').valueOf('A'), 'one\ntwo');
});

test('what follows the key is not read', () => {
  assert.equal(new EnvFile("A='one'\nno assignment", 'f').valueOf('A'), 'one');
});

test('a line as long as Go reads is taken, a longer one is refused with the name of the file', () => {
  const longest = `A='${'x'.repeat(65_535 - 4)}'`;
  assert.equal(new EnvFile(longest, 'f').valueOf('A').length, 65_531);
  const fault = { name: EnvFileError.name, message: 'error reading environment variable file "f": bufio.Scanner: token too long' };
  assert.throws(() => new EnvFile(`A=${'x'.repeat(65_534)}`, 'f').valueOf('A'), fault);
});

test('all variables of a file are had from one reading, in any order; behind a fault there are none', () => {
  const file = new EnvFile("A='1'\nB='2'\nA='3'\nC='4'\nno assignment\nD='5'\n", 'f');
  assert.deepEqual(
    ['C', 'A', 'B', 'C'].map((key) => file.valueOf(key)),
    ['4', '1', '2', '4'],
  );
  for (const key of ['D', 'E'])
    assert.throws(() => file.valueOf(key), { message: "invalid environment variable format at line 5: missing '='" });
  assert.equal(file.valueOf('B'), '2');
});
