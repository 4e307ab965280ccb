import { join } from 'node:path';
import type { PodUid } from './pod.ts';

/** ROOT/pods/UID: what the agent keeps for one pod. Throws when the uid, which comes from a manifest, would lead out of the root directory. */
export function podDirectory(rootDir: string, uid: PodUid): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(uid)) throw new Error(`pod uid "${uid}" cannot name a directory`);
  return join(rootDir, 'pods', uid);
}
