import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMountInfo } from '../../../src/base/mount-info.ts';
import { otherMountsOf } from '../../../src/volumes/mount-table.ts';
import { aMountInfo } from '../../builders/a-mount-info.ts';

const table = parseMountInfo(aMountInfo);

test('a directory is found wherever else it is mounted, and not where a part of it is', () => {
  assert.deepEqual(otherMountsOf(table, '/data'), ['/pods/1/v', '/pods/3/v']);
  assert.deepEqual(otherMountsOf(table, '/data/sub'), ['/pods/2/v']);
  assert.deepEqual(otherMountsOf(table, '/'), []);
});
