import { constants, type Stats } from 'node:fs';
import { chmod, chown, type FileHandle, open, stat } from 'node:fs/promises';
import { heldPath, O_PATH } from '../base/held-directory.ts';
import { walkTree } from '../base/walk-tree.ts';
import type { HostTask } from '../ports/host-files.ts';
import { unlessMissing } from './unless-missing.ts';

export interface Ownership {
  readonly fsGroup: number;
  /** Default: Always. */
  readonly policy?: string | undefined;
  readonly readOnly: boolean;
}

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const ENTER = 0o110;
const SET_GID = 0o2000;

/** The same of a volume whose file system may not answer. */
export const giveToGroup: HostTask<{ readonly directory: string; readonly ownership: Ownership }, void> = {
  name: 'giveToGroup',
  run: ({ directory, ownership }, touch) => touch(directory, (alive) => setVolumeOwnership(directory, ownership, alive)),
};

/**
 * Gives a volume to a group: all of its own file system belongs to the group and the group may use it, and what is made later inherits that.
 * Links are given too, and not followed. The volume's own directory comes last, so that it tells whether all was done; under OnRootMismatch nothing is touched
 * when it says so (pkg/volume SetVolumeOwnership). `alive` is called again and again, and ends it by an error.
 */
export async function setVolumeOwnership(
  directory: string,
  { fsGroup, policy, readOnly }: Ownership,
  alive: () => void = () => {},
): Promise<void> {
  const bits = readOnly ? READ_ONLY : READ_WRITE;
  if (policy === 'OnRootMismatch' && (await isOwned(directory, fsGroup, bits | ENTER))) return;
  const root = await open(directory, O_PATH);
  const giveTo = (found: FileHandle, info: Stats): Promise<void> => {
    alive();
    return give(found, info, fsGroup, bits);
  };
  const giveFile = (path: Buffer): Promise<void> => {
    alive();
    return giveEntry(path, giveTo);
  };
  try {
    const info = await root.stat();
    if (info.isDirectory()) {
      const fault = await walkTree(root, { file: giveFile, directory: giveTo });
      if (fault !== undefined) throw fault;
    }
    await giveTo(root, info);
  } finally {
    await root.close();
  }
}

async function isOwned(directory: string, fsGroup: number, bits: number): Promise<boolean> {
  const found = await stat(directory);
  return found.isDirectory() && found.gid === fsGroup && (found.mode & bits) === bits && (found.mode & SET_GID) !== 0;
}

/** What is changed is what was looked at: a container may exchange what has a name. */
async function giveEntry(path: Buffer, giveTo: (found: FileHandle, info: Stats) => Promise<void>): Promise<void> {
  const entry = await open(path, O_PATH | constants.O_NOFOLLOW).catch(unlessMissing);
  if (entry === undefined) return;
  try {
    await giveTo(entry, await entry.stat());
  } finally {
    await entry.close();
  }
}

async function give(found: FileHandle, info: Stats, fsGroup: number, bits: number): Promise<void> {
  const path = heldPath(found);
  const before = info.mode & 0o7777;
  // A link's mode means nothing.
  const mode = info.isSymbolicLink() ? before : before | bits | (info.isDirectory() ? SET_GID | ENTER : 0);
  if (info.gid === fsGroup && mode === before) return;
  await chown(path, info.uid, fsGroup);
  if (!info.isSymbolicLink()) await chmod(path, mode);
}
