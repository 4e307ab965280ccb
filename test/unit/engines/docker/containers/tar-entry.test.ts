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

/** As Go writes it: its length counts itself. */
function record(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest;
  while (length !== rest + String(length).length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
}
function extended(...records: readonly Buffer[]): Buffer {
  const all = Buffer.concat(records);
  return Buffer.concat([header('x', all.length), all, Buffer.alloc((512 - (all.length % 512)) % 512)]);
}

test('a link that leads to more than a header holds is told whole, in whatever letters', async () => {
  const target = `../${'ö'.repeat(300)}/passwd`;
  const archive = Buffer.concat([extended(record('mtime', '1.5'), record('linkpath', target)), header('2', 0, target.slice(0, 50))]);
  for (const bytes of [7, 512, archive.length]) assert.deepEqual(await readTarEntry(inPieces(archive, bytes), 5), { is: 'link', target });
});

test('a file of which more is said is read', async () => {
  const xattr = record('SCHILY.xattr.security.selinux', 'a=b\nc');
  const archive = Buffer.concat([extended(xattr), header('0', 5), Buffer.from('hello')]);
  assert.deepEqual(await readTarEntry(inPieces(archive, 512), 5), { is: 'file', data: Buffer.from('hello') });
});

test('what is said of an entry has a limit and must be whole', async () => {
  const endless = async function* () {
    for (;;) yield extended(record('comment', 'x'.repeat(1000)));
  };
  await assert.rejects(readTarEntry(endless(), 5), /^Error: the extended headers in the archive have more than 1048576 bytes$/);
  await assert.rejects(readTarEntry(inPieces(header('x', 1024 * 1024 + 1), 512), 5), /more than 1048576 bytes/);
  for (const damaged of ['x', '0 a=b\n', '5', '-9 linkpath=a\n'])
    await assert.rejects(readTarEntry(inPieces(extended(Buffer.from(damaged)), 512), 5), /extended header in the archive is damaged/);
});
