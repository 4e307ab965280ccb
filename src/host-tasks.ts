import { systemClock } from './base/clock.ts';
import { findFile } from './server/find-file.ts';
import type { NamedTask } from './hostfiles/serve-host-files.ts';
import { listManifests, lookAtManifest } from './sources/manifest-files.ts';
import { fileSystemCounts } from './stats/file-system-counts.ts';
import { checkHostPath } from './volumes/host-path-volume.ts';
import { findLocal } from './volumes/local-volume.ts';
import { systemMounts } from './volumes/mounts.ts';
import { readVolumeFile } from './volumes/read-volume-file.ts';
import { showHostSubPath } from './volumes/sub-path.ts';
import { giveToGroup } from './volumes/volume-ownership.ts';

/** Everything that HostFiles is asked for. */
export const hostTasks: readonly NamedTask[] = [
  checkHostPath,
  findLocal,
  giveToGroup,
  showHostSubPath(systemMounts({ clock: systemClock })),
  readVolumeFile,
  fileSystemCounts,
  findFile,
  listManifests,
  lookAtManifest,
];
