import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileSystems } from '../../../src/stats/file-systems.ts';
import { directHostFiles } from '../../fakes/direct-host-files.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const { signal } = new AbortController();

test('all who ask about a file system at once are told, and so is who asks afterwards', async () => {
  const clock = new FakeClock();
  const fileSystems = new FileSystems({ clock, hostFiles: directHostFiles, signal });
  const ask = () => fileSystems.holding('/', () => '');
  const [first, second] = await Promise.all([ask(), ask()]);
  assert.ok((first?.capacityBytes ?? 0) > 0);
  assert.deepEqual(second, first);
  assert.ok(await ask());
  assert.deepEqual(clock.actions, []);
});

test('a path that does not exist has no file system', async () => {
  const clock = new FakeClock();
  assert.equal(await new FileSystems({ clock, hostFiles: directHostFiles, signal }).holding('/no/such/path', () => ''), undefined);
  assert.deepEqual(clock.actions, []);
});

test('two file systems are told apart by their disk, and without one by the number that the kernel gave them', async () => {
  const at = async (mountInfo: string): Promise<string | undefined> => {
    const fileSystems = new FileSystems({ clock: new FakeClock(), hostFiles: directHostFiles, signal });
    return (await fileSystems.holding('/proc', () => mountInfo))?.fileSystem;
  };
  assert.equal(await at('1 0 0:42 /a / rw - btrfs /dev/sda2 rw'), '/dev/sda2');
  assert.equal(await at('1 0 0:43 / / rw - btrfs /dev/sda2 rw\n2 1 0:5 / /proc rw - proc proc rw'), '0:5');
  assert.equal(await at('2 1 0:5 / /elsewhere rw - tmpfs tmpfs rw'), undefined);
});

test('the mount table is read once for a path that stays on its file system', async () => {
  const fileSystems = new FileSystems({ clock: new FakeClock(), hostFiles: directHostFiles, signal });
  let read = 0;
  const mountInfo = (): string => `${read++} 1 0:5 / /proc rw - proc proc rw`;
  const found = [await fileSystems.holding('/proc', mountInfo), await fileSystems.holding('/proc', mountInfo)];
  assert.deepEqual([found.map((each) => each?.fileSystem), read], [['0:5', '0:5'], 1]);
});
