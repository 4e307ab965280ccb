import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../base/error-code.ts';
import { own } from './atomic-writer.ts';

/**
 * Only root comes through the directories above. Appears with its mode and group or not at all, whatever happens to the agent; what a
 * container made of it later stays. Resolves with whether it is new.
 */
export async function makeVolumeDirectory(directory: string, fsGroup: number | undefined): Promise<boolean> {
  if (existsSync(directory)) return false;
  const above = dirname(directory);
  await mkdir(above, { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(join(above, '..'));
  await own(draft, fsGroup, true);
  // Any user of a container may write there, as under the kubelet.
  await chmod(draft, fsGroup === undefined ? 0o777 : 0o2777);
  await rename(draft, directory);
  return true;
}

/** A directory to mount something at. */
export async function makeMountPoint(directory: string): Promise<void> {
  await mkdir(dirname(directory), { recursive: true, mode: 0o700 });
  // Not recursive: that would look into what may be mounted there, and its server may be gone.
  await mkdir(directory, { mode: 0o750 }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
}
