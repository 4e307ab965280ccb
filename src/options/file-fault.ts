import { errorText } from '../base/error-text.ts';
import type { OptionName } from './options-table.ts';

/** An option that names what the agent does not start without, and why it cannot be used. */
export interface FileFault {
  readonly option: OptionName;
  /** A sentence that names the path. */
  readonly fault: string;
}

/** What cannot be done with a path, before and at the start. Here, as most of those who say it are loaded where they are needed. */
export const notUsable = {
  rootDir: (path: string) => `${path} cannot be the root directory`,
  certDir: (path: string) => `a self-signed serving certificate cannot be kept in ${path}`,
  lockFile: (path: string) => `unable to acquire file lock on ${JSON.stringify(path)}`,
  recordFile: (path: string) => `cannot record to ${path}`,
} as const;

/** What `look` rejects with is a fault of what the option names. */
export async function fileFault(option: OptionName, look: () => Promise<unknown>): Promise<readonly FileFault[]> {
  try {
    await look();
    return [];
  } catch (error) {
    return [{ option, fault: errorText(error) }];
  }
}
