import { readdir, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { realPath } from '../base/real-path.ts';
import { touchDirectly } from '../base/touch.ts';
import type { HostFiles, HostTask } from '../ports/host-files.ts';
import { type ManifestFile, readManifestFile } from './read-manifest-file.ts';

/** How manifests are looked at. */
export interface ManifestFiles {
  /** Names in a directory; undefined where it is a file. Rejects when that cannot be known. */
  list(path: string): Promise<readonly string[] | undefined>;
  /** See readManifestFile. */
  look(path: string, knownStamp: string | undefined): Promise<ManifestFile>;
}

/** A file as JSON has it. */
type SentFile =
  | { readonly is: 'gone' | 'unchanged' }
  | { readonly is: 'other'; readonly what: string }
  | { readonly is: 'read'; readonly stamp: string; readonly base64: string }
  | { readonly is: 'unreadable'; readonly message: string };

export const listManifests: HostTask<{ readonly path: string }, { readonly names?: readonly string[] }> = {
  name: 'listManifests',
  run: async ({ path }, touch) => {
    const real = await realPath(path, touch);
    if (!(await touch(real, () => stat(real))).isDirectory()) return {};
    return { names: await touch(real, () => readdir(real)) };
  },
};

export const lookAtManifest: HostTask<{ readonly path: string; readonly knownStamp: string | undefined }, SentFile> = {
  name: 'lookAtManifest',
  run: async ({ path, knownStamp }, touch) => {
    const real = await realPath(path, touch).catch((error: NodeJS.ErrnoException) => {
      // What cannot be found is reported as any other.
      if (error.code === undefined) throw error;
      return path;
    });
    const file = await touch(real, () => readManifestFile(real, knownStamp));
    if (file.is === 'read') return { is: 'read', stamp: file.stamp, base64: Buffer.from(file.content).toString('base64') };
    if (file.is === 'unreadable') return { is: 'unreadable', message: file.error.message };
    return file;
  },
};

/** Manifests on a disk of the node's own. */
export const ownManifestFiles: ManifestFiles = {
  list: async (path) => (await listManifests.run({ path: resolve(path) }, touchDirectly)).names,
  look: readManifestFile,
};

/** Manifests of a server, which may be gone. */
export function hostManifestFiles(hostFiles: HostFiles, signal: AbortSignal): ManifestFiles {
  return {
    list: async (path) => (await hostFiles.run(listManifests, { path: resolve(path) }, signal)).names,
    async look(path, knownStamp) {
      try {
        const file = await hostFiles.run(lookAtManifest, { path: resolve(path), knownStamp }, signal);
        if (file.is === 'read') return { is: 'read', stamp: file.stamp, content: Buffer.from(file.base64, 'base64') };
        if (file.is === 'unreadable') return { is: 'unreadable', error: new Error(file.message) };
        return file.is === 'other' ? file : { is: file.is };
      } catch (error) {
        return { is: 'unreadable', error: error instanceof Error ? error : new Error(String(error)) };
      }
    },
  };
}

/** Either, as the path leads to a server or not at the time. */
export function manifestFiles(own: ManifestFiles, servers: ManifestFiles, isServers: () => boolean): ManifestFiles {
  const now = (): ManifestFiles => (isServers() ? servers : own);
  return { list: (path) => now().list(path), look: (path, knownStamp) => now().look(path, knownStamp) };
}
