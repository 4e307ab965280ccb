import { realpath, stat } from 'node:fs/promises';
import { setVolumeOwnership } from './volume-ownership.ts';
import { makeMountPoint } from './volume-directory.ts';
import { volumeKind } from './volume-kind.ts';

/** A directory of this node that a persistent volume names, shown to each pod at a place of its own (pkg/volume/local). */
export const localVolume = volumeKind('local', {
  plugin: 'kubernetes.io~local-volume',
  takesMountOptions: true,
  setUp: async ({ path }, { pod, directory, readOnly, mountOptions, mounts, podsDir }, signal) => {
    if (path.split('/').includes('..')) throw new Error(`invalid path: ${path} must not contain '..'`);
    const found = await stat(path);
    if (!found.isDirectory()) throw new Error(`local volume ${path} is not a directory: only directories are supported by this node`);
    const pods = `${await realpath(podsDir).catch(() => podsDir)}/`;
    const isFirst = !(await mounts.others(path)).some((other) => other.startsWith(pods));
    await makeMountPoint(directory);
    await mounts.mount(directory, { type: 'bind', source: path, options: [...(readOnly ? ['ro'] : []), ...mountOptions] }, signal);
    const { fsGroup, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
    // The group of the pod that came first: nobody takes the volume from it.
    if (!readOnly && isFirst && fsGroup !== undefined) await setVolumeOwnership(directory, { fsGroup, policy, readOnly }, signal);
    return { hostPath: directory, readOnly };
  },
});
