import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { readRegularFile } from '../../../src/base/read-regular-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'regular-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const at = (name: string): string => join(directory, name);

test('a file is read whole, through links, up to its limit', async () => {
  writeFileSync(at('a'), 'maxPods: 5 # é\n');
  symlinkSync('a', at('link'));
  assert.equal(await readRegularFile(at('link'), 17), 'maxPods: 5 # é\n');
  await assert.rejects(readRegularFile(at('a'), 15), { message: 'it is larger than 15 bytes' });
  writeFileSync(at('empty'), '');
  assert.equal(await readRegularFile(at('empty'), 0), '');
});

test('files of the kernel have no size and are read all the same', async () => {
  assert.match(await readRegularFile('/proc/self/status', 65_536), /^Name:/);
  await assert.rejects(readRegularFile('/proc/self/status', 10), { message: 'it is larger than 10 bytes' });
});

test('files of the kernel are read in pages, not byte by byte', async () => {
  const reads = (): number => Number(/^syscr: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
  const before = reads();
  const { length } = await readRegularFile('/proc/self/status', 65_536);
  assert.ok(length > 500, `${length} bytes`);
  assert.ok(reads() - before < 100, `${reads() - before} reads of ${length} bytes`);
});

describe('refused at once, with what it is:', () => {
  test('a pipe that nothing is written to', async () => {
    assert.equal(spawnSync('mkfifo', [at('pipe')]).status, 0);
    await assert.rejects(readRegularFile(at('pipe'), 100), { message: 'it is a pipe, not a file' });
  });

  test('a directory', () => assert.rejects(readRegularFile(directory, 100), { message: 'it is a directory, not a file' }));

  test('a device', () => assert.rejects(readRegularFile('/dev/zero', 100), { message: 'it is a device, not a file' }));

  test('a socket', async () => {
    const server = createServer().listen(at('socket'));
    await once(server, 'listening');
    await assert.rejects(readRegularFile(at('socket'), 100), { message: 'it is a socket, not a file' });
    server.close();
  });

  test('a file of 100 MiB, of which nothing is read', async () => {
    writeFileSync(at('large'), '');
    truncateSync(at('large'), 100 * 2 ** 20);
    await assert.rejects(readRegularFile(at('large'), 2 ** 20), { message: 'it is larger than 1048576 bytes' });
  });

  test('a file that is not there', () => assert.rejects(readRegularFile(at('none'), 1), { code: 'ENOENT' }));
});
