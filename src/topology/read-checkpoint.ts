import { isMissingFile } from '../base/error-code.ts';
import { errorText } from '../base/error-text.ts';
import { readRegularFile } from '../base/read-regular-file.ts';

/** Below the root directory, where a kubelet has them. */
export const CPU_STATE_FILE = 'cpu_manager_state';
export const MEMORY_STATE_FILE = 'memory_manager_state';

/** Far more than all pods of a node fill. */
const MAX_BYTES = 16 << 20;

/**
 * What a resource manager's checkpoint says, as `read` understands it; undefined: there is none, or nothing in it. One that cannot be gone on
 * with stops the start, as it stops a kubelet's: rejects with what to do.
 */
export async function readCheckpoint<T>(
  path: string,
  read: (json: unknown) => T | undefined | Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return await read(JSON.parse(await readRegularFile(path, MAX_BYTES)));
  } catch (cause) {
    if (isMissingFile(cause)) return undefined;
    throw new Error(
      `who has which CPUs or memory cannot be gone on with: ${path}: ${errorText(cause)}. Drain this node, remove that file, and start the agent again`,
      { cause },
    );
  }
}
