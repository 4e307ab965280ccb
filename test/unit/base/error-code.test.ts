import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { errorCode, isMissingFile } from '../../../src/base/error-code.ts';

const failed = (path: string): Promise<unknown> =>
  readFile(path).then(
    () => undefined,
    (error: unknown) => error,
  );

test('a system error says what it failed with, and which of them mean that there is no file', async () => {
  const cases: readonly (readonly [unknown, string | undefined, boolean])[] = [
    [await failed('/not/there'), 'ENOENT', true],
    [await failed('/dev/null/below'), 'ENOTDIR', true],
    [await failed('/'), 'EISDIR', false],
    [new Error('ENOENT'), undefined, false],
    [Object.assign(new Error('of a command'), { code: 1 }), undefined, false],
    ['ENOENT', undefined, false],
    [undefined, undefined, false],
  ];
  for (const [error, code, missing] of cases) assert.deepEqual([errorCode(error), isMissingFile(error)], [code, missing]);
});
