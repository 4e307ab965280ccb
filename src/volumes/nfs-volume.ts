import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { makeMountPoint } from './volume-directory.ts';
import { MountStepError } from '../model/mount-step-error.ts';
import { volumeKind } from './volume-kind.ts';

const HELPERS = ['/sbin/mount.nfs', '/sbin/mount.nfs4'];

/** An export of an NFS server, mounted by the node's own mount.nfs (pkg/volume/nfs). */
export const nfsVolume = volumeKind('nfs', {
  plugin: 'kubernetes.io~nfs',
  takesMountOptions: true,
  setUp: async ({ server, path, readOnly: onlyRead = false }, { directory, readOnly: claimedOnlyRead, mountOptions, mounts }, signal) => {
    const readOnly = onlyRead || claimedOnlyRead;
    for (const helper of HELPERS) {
      await access(helper, constants.X_OK).catch(() => {
        throw new MountStepError('CanMount', missing(helper));
      });
    }
    await makeMountPoint(directory);
    const source = `${server.includes(':') && !server.startsWith('[') ? `[${server}]` : server}:${path}`;
    await mounts.mount(directory, { type: 'nfs', source, options: [...mountOptions, ...(readOnly ? ['ro'] : [])] }, signal);
    return { hostPath: directory, readOnly, isHosts: true };
  },
});

const missing = (helper: string): string =>
  'Verify that your node machine has the required components before attempting to mount this volume type. ' +
  `Required binary ${helper} is missing (package nfs-common of Debian and Ubuntu, nfs-utils elsewhere)`;
