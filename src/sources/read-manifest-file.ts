import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { isMissingFile } from '../base/error-code.ts';
import { MAX_MANIFEST_BYTES } from './max-manifest-bytes.ts';

interface FileStats {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  isFile(): boolean;
  isDirectory(): boolean;
}

export type ManifestFile =
  /** No such file, or a link to none. */
  | { readonly is: 'gone' }
  /** As it was when `knownStamp` was given. */
  | { readonly is: 'unchanged' }
  /** A directory, a socket: nothing to read. */
  | { readonly is: 'other'; readonly what: string }
  | { readonly is: 'read'; readonly stamp: string; readonly content: Uint8Array }
  /** There, but it cannot be had now. */
  | { readonly is: 'unreadable'; readonly error: Error };

/** Reads a manifest, unless its stamp (inode, size, times; links followed) is the known one. Never rejects, never waits for a pipe's writer. */
export async function readManifestFile(path: string, knownStamp: string | undefined): Promise<ManifestFile> {
  let handle: FileHandle | undefined;
  try {
    const stats = await stat(path, { bigint: true });
    if (!stats.isFile()) return { is: 'other', what: stats.isDirectory() ? 'a directory' : 'not a regular file' };
    if (knownStamp !== undefined && stampOf(stats) === knownStamp) return { is: 'unchanged' };
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const opened = await handle.stat({ bigint: true });
    if (!opened.isFile()) return { is: 'other', what: 'not a regular file' };
    if (opened.size > MAX_MANIFEST_BYTES) return { is: 'unreadable', error: new Error(`longer than ${MAX_MANIFEST_BYTES} bytes`) };
    return { is: 'read', stamp: stampOf(opened), content: await handle.readFile() };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return isMissingFile(error) ? { is: 'gone' } : { is: 'unreadable', error };
  } finally {
    await handle?.close();
  }
}

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: FileStats): string => [dev, ino, size, mtimeNs, ctimeNs].join(':');
