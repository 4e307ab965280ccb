import { hash } from 'node:crypto';
import { join } from 'node:path';
import { podDirectory } from '../model/pod-directory.ts';
import type { PodUid } from '../model/pod.ts';

/** Where the kubelet of today has what belongs to CSI volumes (pkg/volume/csi). No name of another's making leads out of these. */
export class CsiPaths {
  readonly #rootDir: string;
  readonly pods: string;
  /** Below it a directory for each driver. */
  readonly plugin: string;

  constructor(rootDir: string) {
    this.#rootDir = rootDir;
    this.pods = join(rootDir, 'pods');
    this.plugin = join(rootDir, 'plugins/kubernetes.io/csi');
  }

  /** Where a pod's volumes that are mounted have a directory each. */
  mountsOf(uid: PodUid): string {
    return join(podDirectory(this.#rootDir, uid), 'volumes/kubernetes.io~csi');
  }

  /** Where a pod's block devices have a link each. */
  devicesOf(uid: PodUid): string {
    return join(podDirectory(this.#rootDir, uid), 'volumeDevices/kubernetes.io~csi');
  }

  /** What a mounted volume has for one pod. */
  published(uid: PodUid, name: string): PublishedPaths {
    const directory = join(this.mountsOf(uid), named(name));
    return { directory, target: join(directory, 'mount'), data: directory };
  }

  /** The same for a block device. */
  publishedDevice(uid: PodUid, name: string): PublishedPaths {
    const above = join(this.plugin, 'volumeDevices');
    return {
      directory: join(this.devicesOf(uid), named(name)),
      target: join(above, 'publish', named(name), uid),
      data: join(above, name, 'data'),
    };
  }

  /** What a mounted volume has for the whole node. */
  staged(driver: string, handle: string): StagedPaths {
    const directory = join(this.plugin, named(driver), hash('sha256', handle));
    return { directory, staging: join(directory, 'globalmount') };
  }

  stagedDevice(name: string): StagedPaths {
    const above = join(this.plugin, 'volumeDevices');
    return { directory: join(above, named(name), 'data'), staging: join(above, 'staging', name) };
  }
}

export interface PublishedPaths {
  /** Of the pod; of a block device a link to the device. */
  readonly directory: string;
  /** What the driver is given. */
  readonly target: string;
  /** Has vol_data.json. */
  readonly data: string;
}

export interface StagedPaths {
  /** Has vol_data.json. */
  readonly directory: string;
  readonly staging: string;
}

/** The VolumeAttachment of a volume on a node (pkg/volume/csi getAttachmentName). */
export const attachmentName = (handle: string, driver: string, node: string): string => `csi-${hash('sha256', handle + driver + node)}`;

/** What the driver is told that a pod's own volume is called (makeVolumeHandle). */
export const inlineHandle = (uid: PodUid, name: string): string => `csi-${hash('sha256', uid + name)}`;

/** How node.status names a volume: "kubernetes.io/csi/DRIVER^HANDLE". */
export const uniqueVolumeName = (driver: string, handle: string): string => `kubernetes.io/csi/${driver}^${handle}`;

/** Throws for what is no single part of a path. */
function named(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name) || Buffer.byteLength(name) > 255) {
    throw new Error(`${JSON.stringify(name.slice(0, 300))} cannot name a directory`);
  }
  return name;
}
