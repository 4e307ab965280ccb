import { realpath, stat } from 'node:fs/promises';
import { realPath } from '../base/real-path.ts';
import type { HostTask } from '../ports/host-files.ts';
import { mountTable, otherMountsOf } from './mount-table.ts';
import { giveToGroup } from './volume-ownership.ts';
import { makeMountPoint } from './volume-directory.ts';
import { volumeKind } from './volume-kind.ts';

/** A directory of this node that a persistent volume names, shown to each pod at a place of its own (pkg/volume/local). */
export const localVolume = volumeKind('local', {
  plugin: 'kubernetes.io~local-volume',
  takesMountOptions: true,
  setUp: async ({ path }, { pod, directory, readOnly, mountOptions, mounts, hostFiles, giving, podsDir }, signal) => {
    if (path.split('/').includes('..')) throw new Error(`invalid path: ${path} must not contain '..'`);
    const real = await hostFiles.run(findDirectory, { path }, signal);
    const pods = `${await realpath(podsDir).catch(() => podsDir)}/`;
    const isFirst = !otherMountsOf(await mountTable(), real).some((other) => other.startsWith(pods));
    const { fsGroup, fsGroupChangePolicy: policy } = pod.spec.securityContext ?? {};
    // The group of the pod that came first, which keeps the volume. Once it is mounted all of it has been given, whatever came between.
    if (!readOnly && isFirst && fsGroup !== undefined) {
      await giving(() => hostFiles.run(giveToGroup, { directory: real, ownership: { fsGroup, policy, readOnly } }, signal));
    }
    await makeMountPoint(directory);
    await mounts.mount(directory, { type: 'bind', source: path, options: [...(readOnly ? ['ro'] : []), ...mountOptions] }, signal);
    return { hostPath: directory, readOnly, isHosts: true, ...(!readOnly && { isOwn: true }) };
  },
});

/** Where the directory is, without links. */
export const findDirectory: HostTask<{ readonly path: string }, string> = {
  name: 'findDirectory',
  run: async ({ path }, touch) => {
    const real = await realPath(path, touch);
    if ((await touch(real, () => stat(real))).isDirectory()) return real;
    throw new Error(`local volume ${path} is not a directory: only directories are supported by this node`);
  },
};
