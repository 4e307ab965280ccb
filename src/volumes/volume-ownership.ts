import { constants } from 'node:fs';
import { chmod, chown, type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { O_PATH } from '../base/held-directory.ts';
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

/**
 * Gives a volume to a group: everything in it belongs to the group and the group may use it, and what is made later inherits that. The volume's
 * own directory comes last, so that it tells whether all was done; under OnRootMismatch nothing is touched when it says so (pkg/volume
 * SetVolumeOwnership).
 */
export async function setVolumeOwnership(directory: string, { fsGroup, policy, readOnly }: Ownership): Promise<void> {
  const bits = readOnly ? READ_ONLY : READ_WRITE;
  if (policy === 'OnRootMismatch' && (await isOwned(directory, fsGroup, bits | ENTER))) return;
  const root = await open(directory, O_PATH);
  try {
    await give(root, fsGroup, bits);
  } finally {
    await root.close();
  }
}

async function isOwned(directory: string, fsGroup: number, bits: number): Promise<boolean> {
  const found = await stat(directory);
  return found.isDirectory() && found.gid === fsGroup && (found.mode & bits) === bits && (found.mode & SET_GID) !== 0;
}

/** Each step is taken from a directory that is held open, for a container may exchange what has a name. */
async function give(at: FileHandle, fsGroup: number, bits: number): Promise<void> {
  const found = await at.stat();
  if (found.isSymbolicLink()) return;
  const path = `/proc/self/fd/${at.fd}`;
  if (found.isDirectory()) {
    for (const name of await readdir(path)) {
      const entry = await open(`${path}/${name}`, O_PATH | constants.O_NOFOLLOW).catch(unlessMissing);
      if (entry === undefined) continue;
      try {
        await give(entry, fsGroup, bits);
      } finally {
        await entry.close();
      }
    }
  }
  const mode = (found.mode & 0o7777) | bits | (found.isDirectory() ? SET_GID | ENTER : 0);
  await chown(path, found.uid, fsGroup);
  await chmod(path, mode);
}
