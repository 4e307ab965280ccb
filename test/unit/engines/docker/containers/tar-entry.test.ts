import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { readTarEntry } from '../../../../../src/engines/docker/containers/tar-entry.ts';

function header(type: string, size: number, target = ''): Buffer {
  const block = Buffer.alloc(512);
  block.write('passwd');
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write(type, 156);
  block.write(target, 157);
  return block;
}
const inPieces = (archive: Buffer, bytes: number): Readable =>
  Readable.from(Array.from({ length: Math.ceil(archive.length / bytes) }, (_, i) => archive.subarray(i * bytes, (i + 1) * bytes)));

test('the first file of an archive is read, however the archive comes in', async () => {
  const archive = Buffer.concat([header('0', 5), Buffer.from('hello'.padEnd(512, '\0')), Buffer.alloc(1024)]);
  for (const bytes of [1, 511, 512, 513, archive.length])
    assert.deepEqual(await readTarEntry(inPieces(archive, bytes), 5), { is: 'file', data: Buffer.from('hello') });
});

test('a link tells where it leads', async () => {
  assert.deepEqual(await readTarEntry(inPieces(header('2', 0, '../run/passwd'), 512), 5), { is: 'link', target: '../run/passwd' });
});

test('what is larger, of another kind or cut off is refused', async () => {
  await assert.rejects(readTarEntry(inPieces(header('0', 6), 512), 5), /^Error: the file in the archive has 6 bytes, more than 5$/);
  await assert.rejects(
    readTarEntry(inPieces(header('5', 0), 512), 5),
    /^Error: expected a file in the archive, found an entry of type "5"$/,
  );
  await assert.rejects(readTarEntry(inPieces(header('0', 5), 512), 5), /^Error: the archive ended before its first entry did$/);
});
