import { opendir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissingFile } from '../base/error-code.ts';
import { ContainerStartError } from '../model/container-start-error.ts';
import { namesPodDirectory } from '../model/pod-directory.ts';
import type { PodUid } from '../model/pod.ts';

/** Where the kubelet has what belongs to pods: ROOT/pods/UID. */
export class PodDirectories {
  readonly root: string;

  constructor(rootDir: string) {
    this.root = join(rootDir, 'pods');
  }

  /** Throws ContainerStartError when the uid cannot name a directory. */
  of(uid: PodUid): string {
    if (!namesPodDirectory(uid)) throw new ContainerStartError('CreateContainerConfigError', `pod uid "${uid}" cannot name a directory`);
    return join(this.root, uid);
  }

  /** Throws when one of the names would lead elsewhere. */
  volume(uid: PodUid, plugin: string, name: string): string {
    for (const part of [plugin, name])
      if (part === '' || part === '.' || part === '..' || part.includes('/'))
        throw new Error(`${JSON.stringify(part.slice(0, 300))} cannot name a directory`);
    return join(this.volumes(uid), plugin, name);
  }

  volumes(uid: PodUid): string {
    return join(this.of(uid), 'volumes');
  }

  /** The parts of volumes that containers are shown by subPath. */
  subPaths(uid: PodUid): string {
    return join(this.of(uid), 'volume-subpaths');
  }

  /** Pods that have a directory. */
  async list(): Promise<readonly PodUid[]> {
    const entries = await readdir(this.root, { withFileTypes: true }).catch(unlessMissing);
    return (entries ?? []).filter((entry) => entry.isDirectory() && namesPodDirectory(entry.name)).map(({ name }) => name as PodUid);
  }

  /** Whether the pod has volumes on this node, mounted or not. */
  async hasVolumes(uid: PodUid): Promise<boolean> {
    const plugins = (await readdir(this.volumes(uid)).catch(unlessMissing)) ?? [];
    for (const plugin of plugins) if (await hasEntries(join(this.volumes(uid), plugin))) return true;
    return hasEntries(this.subPaths(uid));
  }
}

/** Reads no more than it takes to say so. */
async function hasEntries(directory: string): Promise<boolean> {
  const entries = await opendir(directory, { bufferSize: 1 }).catch(unlessMissing);
  if (entries === undefined) return false;
  for await (const _ of entries) return true;
  return false;
}

function unlessMissing(error: unknown): undefined {
  if (isMissingFile(error)) return undefined;
  throw error;
}
