import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mountOf, parseMountInfo } from '../../../src/base/mount-info.ts';
import { aMountInfo } from '../../builders/a-mount-info.ts';

const table = parseMountInfo(aMountInfo);

test('mounts are read with their paths unescaped', () => {
  assert.equal(table.length, 6);
  const pathBytes = Buffer.from('/a b');
  assert.deepEqual(table[1], { path: '/a b', pathBytes, device: '0:20', root: '/', fsType: 'tmpfs', source: 'tmpfs', shared: false });
  assert.deepEqual([table[0]?.shared, table[2]?.shared], [true, true]);
});

test('a path that is no UTF-8 is kept as it is', () => {
  const info = Buffer.concat([
    Buffer.from('30 22 0:20 / /v/'),
    Buffer.from([0xff, 0xc3, 0xa9]),
    Buffer.from('\\134\\012é rw - tmpfs tmpfs rw\n'),
  ]);
  const [mount] = parseMountInfo(info);
  assert.deepEqual(mount?.pathBytes, Buffer.concat([Buffer.from('/v/'), Buffer.from([0xff]), Buffer.from('é\\\né')]));
  assert.equal(mount.path, '/v/\ufffdé\\\né');
});

test('a path lies on the innermost mount around it, of two stacked ones on the upper', () => {
  assert.equal(mountOf(table, '/a b/c')?.fsType, 'tmpfs');
  assert.equal(mountOf(table, '/a bc')?.path, '/');
  assert.equal(mountOf(table, '/pods/3/v')?.fsType, 'tmpfs');
});
