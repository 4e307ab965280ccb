import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { writePrivateFile } from '../../../src/base/write-private-file.ts';

const scratch = mkdtempSync(join(tmpdir(), 'write-private-file-'));
after(() => rmSync(scratch, { recursive: true }));

/** A process that writes this file and is killed in the middle of it: when it calls this function of node:fs/promises. */
function killedAt(call: 'rename' | 'open', path: string, content: string): NodeJS.Signals | null {
  const module = JSON.stringify(new URL('../../../src/base/write-private-file.ts', import.meta.url).href);
  const script = `
    import fs from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    const open = fs.open;
    const die = () => process.kill(process.pid, 'SIGKILL');
    fs.${call} = ${call === 'open' ? 'async (...all) => { const file = await open(...all); file.writeFile = async (text) => { await file.write(text.slice(0, 2)); die(); }; return file; }' : 'die'};
    syncBuiltinESMExports();
    const { writePrivateFile } = await import(${module});
    await writePrivateFile(${JSON.stringify(path)}, ${JSON.stringify(content)});
  `;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script]).signal;
}

test('a file comes with its directory, for its owner alone, and takes the place of the one before', async () => {
  const path = join(scratch, 'new/state');
  await writePrivateFile(path, 'one');
  await writePrivateFile(path, Buffer.from('two'));
  assert.equal(readFileSync(path, 'utf8'), 'two');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(scratch, 'new')), ['state']);
});

for (const call of ['open', 'rename'] as const) {
  test(`a process that is killed ${call === 'open' ? 'while it writes' : 'before the new content has its name'} leaves the old content`, async () => {
    const path = join(scratch, `killed-${call}`, 'state');
    await writePrivateFile(path, 'old');
    assert.equal(killedAt(call, path, 'new content'), 'SIGKILL');
    assert.equal(readFileSync(path, 'utf8'), 'old');
    await writePrivateFile(path, 'newer');
    assert.equal(readFileSync(path, 'utf8'), 'newer');
    assert.deepEqual(readdirSync(join(scratch, `killed-${call}`)), ['state']);
  });
}

test('what cannot take its place leaves nothing behind', async () => {
  const path = join(scratch, 'taken');
  mkdirSync(path);
  await assert.rejects(writePrivateFile(path, 'new'), { code: 'EISDIR' });
  assert.equal(readdirSync(scratch).includes('taken.part'), false);
  writeFileSync(join(scratch, 'file'), '');
  await assert.rejects(writePrivateFile(join(scratch, 'file/state'), 'new'), { code: 'EEXIST' });
});

describe('on a disk of its own', () => {
  const disk = join(scratch, 'disk');
  const path = join(disk, 'state');
  before(() => {
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
  });
  after(() => execFileSync('umount', [disk]));

  test('a full disk keeps the old content, and is as full as before', async () => {
    await writePrivateFile(path, 'old');
    await assert.rejects(writePrivateFile(path, Buffer.alloc(1 << 20)), { code: 'ENOSPC' });
    assert.equal(readFileSync(path, 'utf8'), 'old');
    assert.deepEqual(readdirSync(disk), ['state']);
    await writePrivateFile(path, 'new');
    assert.equal(readFileSync(path, 'utf8'), 'new');
  });

  test('a disk that may only be read keeps the old content', async () => {
    await writePrivateFile(path, 'old');
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    await assert.rejects(writePrivateFile(path, 'new'), { code: 'EROFS' });
    assert.equal(readFileSync(path, 'utf8'), 'old');
    execFileSync('mount', ['-o', 'remount,rw', disk]);
  });
});
