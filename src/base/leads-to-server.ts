import { readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from './error-code.ts';
import { type MountPoint, mountOf } from './mount-info.ts';

/** File systems whose other end may be gone; what FUSE and autofs stand for may as well. */
const ofServers = /^(nfs4?|cifs|smb3|smbfs|ceph|9p|afs|lustre|beegfs|gpfs|gfs2|ocfs2|virtiofs|autofs|fuse(blk)?(\..*)?)$/;
export const isServers = (mount: MountPoint | undefined): boolean => ofServers.test(mount?.fsType ?? '');

const MAX_LINKS = 40;
/** Far more than paths have that are meant. A pod writes them as long as it likes, and its containers make links that lead on and on. */
const MOST_STEPS = 512;

/**
 * Whether a path lies on a file system that may never answer, also by links. Looks at none that is one. True where that is not known in so many
 * steps: nothing else is done meanwhile.
 */
export function leadsToServer(path: string, table: readonly MountPoint[]): boolean {
  const ahead = partsOf(path);
  let links = 0;
  let steps = 0;
  let at = '/';
  for (let part = ahead.shift(); part !== undefined && links <= MAX_LINKS; part = ahead.shift()) {
    if (++steps > MOST_STEPS) return true;
    const next = part === '..' ? dirname(at) : join(at, part);
    if (isServers(mountOf(table, next))) return true;
    const target = linkTarget(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links++;
    if (target.startsWith('/')) at = '/';
    ahead.unshift(...partsOf(target));
  }
  return false;
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.');

/** Undefined for what is no link, or is not there. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
