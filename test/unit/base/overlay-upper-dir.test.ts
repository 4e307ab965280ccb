import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overlayUpperDir } from '../../../src/base/overlay-upper-dir.ts';

const mounted = (path: string, fsType: string, options: string): string => `36 35 0:30 / ${path} rw - ${fsType} none ${options}`;

test('the writable layer of a root that is an overlay is found, whatever else is mounted', () => {
  const overlay = mounted('/', 'overlay', 'rw,lowerdir=/a:/b,upperdir=/var/lib/x\\040y/fs,workdir=/var/lib/x/work');
  const info = [mounted('/proc', 'proc', 'rw'), overlay, mounted('/data', 'overlay', 'rw,upperdir=/other')].join('\n');
  assert.equal(overlayUpperDir(info), '/var/lib/x y/fs');
});

test('a root of another kind, one without such a layer, and none have none', () => {
  for (const info of [
    mounted('/', 'ext4', 'rw'),
    mounted('/', 'overlay', 'ro,lowerdir=/a:/b'),
    '',
    'garbage',
    mounted('/x', 'overlay', 'upperdir=/x'),
  ])
    assert.equal(overlayUpperDir(info), undefined, info);
});
