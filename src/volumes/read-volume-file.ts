import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { heldPath, O_PATH } from '../base/held-directory.ts';
import { readRegularFile } from '../base/read-regular-file.ts';
import { presentPart } from '../base/real-path.ts';
import type { Touch } from '../base/touch.ts';
import type { HostTask } from '../ports/host-files.ts';

export interface VolumePath {
  /** The directory of the whole volume. */
  readonly volume: string;
  readonly path: string;
}

/** As large as a ConfigMap may be, which is the other way to the same (pkg/apis/core/validation MaxSecretSize). */
export const MAX_VOLUME_FILE_BYTES = 1024 * 1024;

/**
 * Reads a file of a volume that containers write: links are followed as if the volume were the root directory, and each step is then taken
 * from a directory that is held open, never over a link, so that what is read lies within the volume whatever a container does meanwhile.
 */
export const readVolumeFile: HostTask<VolumePath, string> = {
  name: 'readVolumeFile',
  run: async ({ volume, path }, touch) => {
    const root = await realpath(volume);
    const { real, missing, fault } = await presentPart(path, touch, root);
    if (missing.length > 0) throw fault;
    const file = await openWithin(root, relative(root, real).split('/'), touch);
    try {
      return await touch(real, () => readRegularFile(heldPath(file), MAX_VOLUME_FILE_BYTES));
    } finally {
      await file.close();
    }
  },
};

async function openWithin(root: string, parts: readonly string[], touch: Touch): Promise<FileHandle> {
  let at = await touch(root, () => open(root, O_PATH | constants.O_DIRECTORY));
  let path = root;
  for (const part of parts) {
    const from = at;
    path = join(path, part);
    try {
      at = await touch(path, () => open(`${heldPath(from)}/${part}`, O_PATH | constants.O_NOFOLLOW));
    } finally {
      await from.close();
    }
  }
  return at;
}
