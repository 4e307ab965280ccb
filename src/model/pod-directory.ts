import { join } from 'node:path';
import type { PodUid } from './pod.ts';

/** A pod's uid comes from its manifest: it must not lead out of the directory of pods. */
export const namesPodDirectory = (uid: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(uid);

/** ROOT/pods/UID: what the agent keeps for one pod. Throws when the uid cannot name a directory. */
export function podDirectory(rootDir: string, uid: PodUid): string {
  if (!namesPodDirectory(uid)) throw new Error(`pod uid "${uid}" cannot name a directory`);
  return join(rootDir, 'pods', uid);
}
