import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mountOf, parseMountInfo } from '../../../src/base/mount-info.ts';

const table = parseMountInfo(`22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:20 / /a\\040b rw - tmpfs tmpfs rw,size=4k
31 22 8:1 /data /pods/1/v rw shared:2 master:3 - ext4 /dev/sda1 rw
32 22 8:1 /data/sub /pods/2/v rw - ext4 /dev/sda1 rw
33 22 8:1 /data /pods/3/v rw - ext4 /dev/sda1 rw
34 33 0:21 / /pods/3/v rw - tmpfs tmpfs rw
`);

test('mounts are read with their paths unescaped', () => {
  assert.equal(table.length, 6);
  assert.deepEqual(table[1], { path: '/a b', device: '0:20', root: '/', fsType: 'tmpfs', source: 'tmpfs', shared: false });
  assert.deepEqual([table[0]?.shared, table[2]?.shared], [true, true]);
});

test('a path lies on the innermost mount around it, of two stacked ones on the upper', () => {
  assert.equal(mountOf(table, '/a b/c')?.fsType, 'tmpfs');
  assert.equal(mountOf(table, '/a bc')?.path, '/');
  assert.equal(mountOf(table, '/pods/3/v')?.fsType, 'tmpfs');
});
