import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, rmdir, truncate, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { mountsNow } from '../../src/base/mount-info.ts';
import type { VolumeCapability } from '../../src/csi/api/csi_pb.js';
import type { CsiBacking } from './csi-driver.ts';

const run = promisify(execFile);
const isMounted = (path: string): boolean => mountsNow().some((each) => each.path === path);
const isBlock = (capability: VolumeCapability | undefined): boolean => capability?.accessType.case === 'block';

/** Each volume is a directory below `root`, or for a block device /dev/null, mounted where it is wanted: quick, and what is written stays. */
export const bindBacking = (root: string): CsiBacking => ({
  stage: async ({ volumeId, stagingTargetPath, volumeCapability }) => {
    if (!isBlock(volumeCapability)) await bind(place(root, volumeId), stagingTargetPath);
  },
  unstage: (_id, path) => unmount(path),
  publish: async ({ volumeId, stagingTargetPath, targetPath, volumeCapability }) => {
    if (isBlock(volumeCapability)) await bindDevice('/dev/null', targetPath);
    else await bind(stagingTargetPath || place(root, volumeId), targetPath);
  },
  unpublish: async (_id, path) => {
    await unmount(path);
    await rmdir(path).catch(() => unlink(path).catch(() => {}));
  },
});

async function bind(source: string, target: string): Promise<void> {
  await mkdir(source, { recursive: true });
  await mkdir(target, { recursive: true });
  if (!isMounted(target)) await run('mount', ['--bind', source, target]);
}

async function bindDevice(device: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  if (isMounted(target)) return;
  if (!existsSync(target)) await writeFile(target, '');
  await run('mount', ['--bind', device, target]);
}

async function unmount(path: string): Promise<void> {
  if (isMounted(path)) await run('umount', [path]);
}

const place = (root: string, volumeId: string): string => join(root, hash('sha256', volumeId));

const IMAGE_BYTES = 16 << 20;

/** Each volume is a file below `root` that has a file system, or is a block device, by way of a loop device. */
export const loopBacking = (root: string): CsiBacking => ({
  stage: async ({ volumeId, stagingTargetPath, volumeCapability }) => {
    await image(root, volumeId, !isBlock(volumeCapability));
    if (!isBlock(volumeCapability)) await loopMount(place(root, volumeId), stagingTargetPath);
  },
  unstage: async (_id, path) => unmount(path),
  publish: async ({ volumeId, stagingTargetPath, targetPath, volumeCapability, readonly }) => {
    if (isBlock(volumeCapability)) {
      await image(root, volumeId, false);
      const before = await loopOf(place(root, volumeId));
      const device = before ?? (await run('losetup', ['--find', '--show', place(root, volumeId)])).stdout.trim();
      await bindDevice(device, targetPath);
      return;
    }
    if (stagingTargetPath !== '') {
      await bind(stagingTargetPath, targetPath);
      if (readonly) await run('mount', ['-o', 'remount,bind,ro', targetPath]);
      return;
    }
    await image(root, volumeId, true);
    await mkdir(targetPath, { recursive: true });
    await loopMount(place(root, volumeId), targetPath);
  },
  unpublish: async (volumeId, path) => {
    await unmount(path);
    await rmdir(path).catch(() => unlink(path).catch(() => {}));
    const device = await loopOf(place(root, volumeId));
    if (device !== undefined && !mountsNow().some(({ source, root: at }) => source === device || at === device.slice('/dev'.length))) {
      await run('losetup', ['--detach', device]).catch(() => {});
    }
  },
  expand: async (volumeId, bytes) => {
    await truncate(place(root, volumeId), Number(bytes));
    const device = await loopOf(place(root, volumeId));
    if (device === undefined) throw new Error(`${volumeId} is not staged`);
    await run('losetup', ['--set-capacity', device]);
    // In some containers nobody may resize a file system that is in use: the device has grown then, and no more.
    await run('resize2fs', [device]).catch((error: unknown) => {
      if (!String(error).includes('Permission denied')) throw error;
    });
  },
});

/** Made once. */
async function image(root: string, volumeId: string, withFileSystem: boolean): Promise<void> {
  const path = place(root, volumeId);
  if (existsSync(path)) return;
  await mkdir(root, { recursive: true });
  const file = await open(path, 'w');
  await file.truncate(IMAGE_BYTES);
  await file.close();
  if (withFileSystem) await run('mkfs.ext4', ['-q', path]);
}

async function loopMount(path: string, target: string): Promise<void> {
  if (!isMounted(target)) await run('mount', ['-o', 'loop', path, target]);
}

async function loopOf(path: string): Promise<string | undefined> {
  const { stdout } = await run('losetup', ['--noheadings', '--output', 'NAME', '--associated', path]);
  return stdout.trim().split('\n')[0]?.trim() || undefined;
}
