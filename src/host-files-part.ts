import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from './base/clock.ts';
import { type MountPoint, mountsNow } from './base/mount-info.ts';
import type { Logger } from './base/logger.ts';
import { HostFilesProcess } from './hostfiles/host-files-process.ts';
import type { HostFiles } from './ports/host-files.ts';

/** Looks at files that may never answer, in a process of their own. Nothing is started before it is asked for; an abort ends it. */
export function hostFilesPart({
  clock,
  log,
  stop,
}: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly stop: AbortSignal;
}): HostFiles {
  // Beside this module, from source as in the bundle.
  const program = fileURLToPath(new URL(`./host-files-main${extname(import.meta.filename)}`, import.meta.url));
  const table = (): readonly MountPoint[] => mountsNow();
  return new HostFilesProcess({ clock, log, program, table, stop });
}
