import { join } from 'node:path';
import { exists } from '../../base/exists.ts';
import { namesIn } from '../../base/names-in.ts';
import { type FlexDrivers, flexPlugin, isFlexDriver } from '../flex-drivers.ts';
import type { DiskEnds } from './node-disks.ts';

/** Where below plugins/kubernetes.io/flexvolume the kubelet has a volume that its driver attaches (GetDeviceMountPath). */
export const flexPlace = (driver: string, name: string): string => `${driver}/mounts/${name}`;

/** How node.status names it. */
export const flexUniqueName = (driver: string, name: string): string => `flexvolume-${driver}/${name}`;

function ofPlace(place: string): { readonly driver: string; readonly name: string } | undefined {
  const [, driver = '', name = ''] = /^(.+)\/mounts\/([^/]+)$/.exec(place) ?? [];
  return isFlexDriver(driver) && name !== '' ? { driver, name } : undefined;
}

export interface FlexEndsDeps {
  readonly flex: FlexDrivers;
  readonly nodeName: string;
  /** ROOT/pods */
  readonly podsDir: string;
  readonly byController: () => boolean;
}

/** Volumes of FlexVolume drivers that attach. Who has attached one detaches it: the controller, or the driver on this node. */
export function flexEnds({ flex, nodeName, podsDir, byController }: FlexEndsDeps): DiskEnds {
  return {
    namesOf: (place) => {
      const volume = ofPlace(place);
      return volume && [flexUniqueName(volume.driver, volume.name)];
    },
    // What a driver shows a pod need not be what it has mounted for the node.
    isUsed: async (place) => {
      const volume = ofPlace(place);
      if (volume === undefined) return false;
      for (const uid of await namesIn(podsDir)) {
        if (await exists(join(podsDir, uid, 'volumes', flexPlugin(volume.driver), volume.name))) return true;
      }
      return false;
    },
    unmount: async (place, directory, signal) => {
      const volume = ofPlace(place);
      if (volume) await (await flex.find(volume.driver, signal)).unmountDevice(directory, signal);
    },
    detach: async ({ place }, signal) => {
      const volume = ofPlace(place);
      if (volume && !byController()) await (await flex.find(volume.driver, signal)).detach(volume.name, nodeName, signal);
    },
  };
}
