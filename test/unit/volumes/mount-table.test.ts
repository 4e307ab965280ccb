import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMountInfo } from '../../../src/base/mount-info.ts';
import { otherMountsOf } from '../../../src/volumes/mount-table.ts';

const table = parseMountInfo(`22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:20 / /a\\040b rw - tmpfs tmpfs rw,size=4k
31 22 8:1 /data /pods/1/v rw shared:2 master:3 - ext4 /dev/sda1 rw
32 22 8:1 /data/sub /pods/2/v rw - ext4 /dev/sda1 rw
33 22 8:1 /data /pods/3/v rw - ext4 /dev/sda1 rw
34 33 0:21 / /pods/3/v rw - tmpfs tmpfs rw
`);

test('a directory is found wherever else it is mounted, and not where a part of it is', () => {
  assert.deepEqual(otherMountsOf(table, '/data'), ['/pods/1/v', '/pods/3/v']);
  assert.deepEqual(otherMountsOf(table, '/data/sub'), ['/pods/2/v']);
  assert.deepEqual(otherMountsOf(table, '/'), []);
});
