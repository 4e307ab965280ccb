import { existsSync } from 'node:fs';
import { mkdir, rename, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageService } from '../ports/image-service.ts';
import { removeTree } from './remove-tree.ts';

/** So much of a file system stays free of images. */
const KEPT_FREE = 0.1;

export interface ImageToExport {
  /** What the engine calls it. */
  readonly imageRef: string;
  /** The volume's: each image that it has shown has a directory there. */
  readonly directory: string;
}

/**
 * The directory with the files of an image, for an engine that cannot mount one: written once, and there whole or not at all. Rejects where
 * less than a tenth of the file system would stay free.
 */
export async function exportedImage(
  { imageRef, directory }: ImageToExport,
  images: Pick<ImageService, 'exportImage'>,
  signal: AbortSignal,
): Promise<string> {
  // "sha256:…", which no mount can have as its source: a colon ends that.
  const root = join(directory, imageRef.replaceAll(/[^\w.-]/g, '_'));
  if (existsSync(root)) return root;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = `${root}.draft`;
  await removeTree(draft, signal);
  await mkdir(draft, { mode: 0o755 });
  const { bavail, blocks, bsize } = await statfs(directory);
  try {
    await images.exportImage(imageRef, draft, Math.max(0, Math.floor((bavail - blocks * KEPT_FREE) * bsize)), signal);
  } catch (error) {
    // An abort leaves that to the next try, or to the pod's end.
    if (!signal.aborted) await removeTree(draft, signal);
    throw error;
  }
  await rename(draft, root);
  return root;
}
