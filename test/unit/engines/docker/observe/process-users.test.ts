import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ProcessUsers } from '../../../../../src/engines/docker/observe/process-users.ts';

const roots: string[] = [];
after(() => Promise.all(roots.map((root) => rm(root, { recursive: true }))));

/** A /proc with process 20, a child of 10, whose working directory is the bundle of `id`. */
async function procWith(
  id: string,
  config: string,
  status = 'Name:\tsleep\nPid:\t20\nPPid:\t10\n',
): Promise<{ proc: string; bundle: string }> {
  const root = await mkdtemp(join(tmpdir(), 'process-users-'));
  roots.push(root);
  const [proc, bundle] = [join(root, 'proc'), join(root, 'bundles', id)];
  for (const directory of [join(proc, '10'), join(proc, '20'), bundle]) await mkdir(directory, { recursive: true });
  await writeFile(join(proc, '20', 'status'), status);
  await writeFile(join(bundle, 'config.json'), config);
  await symlink(bundle, join(proc, '10', 'cwd'));
  return { proc, bundle };
}

const running = { Id: 'abc', State: { Running: true, Pid: 20 } };
const config = (user: unknown): string => JSON.stringify({ process: { user } });

test('a container began as the user and the groups that its bundle says, also once it has ended', async () => {
  const { proc, bundle } = await procWith('abc', config({ uid: 1000, gid: 1001, additionalGids: [1001, 5] }));
  const users = new ProcessUsers(proc);
  const user = { uid: 1000, gid: 1001, supplementalGroups: [1001, 5] };
  assert.deepEqual(await users.of(running), user);
  await rm(join(bundle, 'config.json'));
  assert.deepEqual(await users.of({ Id: 'abc', State: { Running: false, Pid: 0 } }), user);
});

test('a container whose process above was started elsewhere began as the bundle says that it was given', async () => {
  const { proc, bundle } = await procWith('userdata', config({ uid: 7, gid: 8 }));
  const given = join(bundle, 'overlay-containers', 'abc', 'userdata');
  await mkdir(given, { recursive: true });
  await writeFile(join(given, 'config.json'), config({ uid: 1000, gid: 1001 }));
  await writeFile(join(proc, '10', 'cmdline'), ['conmon', '-c', 'abc', '-b', given, '-n', 'name', ''].join('\0'));
  assert.deepEqual(await new ProcessUsers(proc).of(running), { uid: 1000, gid: 1001 });
  assert.equal(await new ProcessUsers(proc).of({ ...running, Id: 'other' }), undefined);
});

test('without groups none are told', async () => {
  const { proc } = await procWith('abc', config({ uid: 0, gid: 0 }));
  assert.deepEqual(await new ProcessUsers(proc).of(running), { uid: 0, gid: 0 });
});

const unseen: readonly (readonly [string, () => Promise<{ proc: string }>])[] = [
  ['the process above is of another container', () => procWith('another', config({ uid: 0, gid: 0 }))],
  ['the bundle is damaged', () => procWith('abc', '{')],
  ['the bundle says nothing of a user', () => procWith('abc', '{}')],
  ['the process has no parent', () => procWith('abc', config({ uid: 0, gid: 0 }), 'Name:\tsleep\n')],
  ['there is no such process on this machine', async () => ({ proc: '/nonexistent' })],
];
for (const [why, made] of unseen)
  test(`nothing is told where ${why}`, async () => {
    assert.equal(await new ProcessUsers((await made()).proc).of(running), undefined);
  });

test('a container that has ended before anyone looked is not looked for', async () => {
  const { proc } = await procWith('abc', config({ uid: 0, gid: 0 }));
  assert.equal(await new ProcessUsers(proc).of({ Id: 'abc', State: { Running: false, Pid: 20 } }), undefined);
});
