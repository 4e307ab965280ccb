import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disksOfV1, disksOfV2, namedDisks, parseDiskNames } from '../../../src/stats/disk-texts.ts';

const none = undefined;

test('disks of version 1 are counted with what is below, or without where an older kernel tells no more', () => {
  const bytes = '8:0 Read 4096\n8:0 Write 512\n8:0 Sync 4608\n8:16 Write 1\nTotal 4609\n';
  const counts = '8:0 Read 2\n8:0 Write 1\n';
  const expected = new Map([
    ['8:0', { readBytes: 4096, writtenBytes: 512, reads: 2, writes: 1 }],
    ['8:16', { readBytes: 0, writtenBytes: 1, reads: 0, writes: 0 }],
  ]);
  const recursive = { 'blkio.throttle.io_service_bytes_recursive': bytes, 'blkio.throttle.io_serviced_recursive': counts };
  const own = { 'blkio.throttle.io_service_bytes': bytes, 'blkio.throttle.io_serviced': counts };
  const nothing = { 'blkio.throttle.io_service_bytes': none, 'blkio.throttle.io_serviced': none };
  assert.deepEqual(disksOfV1({ ...nothing, ...recursive }), expected);
  const older = { 'blkio.throttle.io_service_bytes_recursive': none, 'blkio.throttle.io_serviced_recursive': none };
  assert.deepEqual(disksOfV1({ ...older, ...own }), expected);
  assert.equal(disksOfV1({ ...older, ...nothing }), undefined);
});

test('disks of version 2 are lines of values, also where numbers of disks without values come before them', () => {
  const text = '8:16 8:0 rbytes=4096 wbytes=512 rios=2 wios=1 dbytes=0 dios=0\n254:0 \n';
  assert.deepEqual(disksOfV2({ 'io.stat': text }), new Map([['8:0', { readBytes: 4096, writtenBytes: 512, reads: 2, writes: 1 }]]));
  assert.equal(disksOfV2({ 'io.stat': none }), undefined);
});

test('a disk is called as in /dev, or by its numbers', () => {
  const names = parseDiskNames('   8       0 sda 1 2\n 259       1 nvme0n1p1 3\n\n');
  const use = { readBytes: 1, writtenBytes: 2, reads: 3, writes: 4 };
  const disks = namedDisks(
    new Map([
      ['259:1', use],
      ['7:0', use],
    ]),
    names,
  );
  assert.deepEqual(
    disks.map(({ device }) => device),
    ['/dev/nvme0n1p1', '7:0'],
  );
});
