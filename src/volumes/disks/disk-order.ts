import type { PodUid } from '../../model/pod.ts';
import type { MountedDevice } from '../mounts.ts';

/** Kinds of disks that are mounted once for the node; directories and names of theirs begin so. */
export const diskPlugins = ['iscsi', 'fc', 'flexvolume', 'local-volume'] as const;
export type DiskPlugin = (typeof diskPlugins)[number];

/** A disk that a pod is to have. */
export interface DiskOrder {
  readonly uid: PodUid;
  /** The volume's, as directories name it. */
  readonly name: string;
  readonly plugin: DiskPlugin;
  /** Below the directory of the plugin, or of its devices, as the kubelet has it. */
  readonly place: string;
  /** Whether the pod has the device, in place of what is on it. */
  readonly isBlock: boolean;
  readonly fsType: string;
  readonly readOnly: boolean;
  readonly mountOptions: readonly string[];
  /** As node.status names it; undefined: it belongs to the machine, and no controller has a word in it. */
  readonly uniqueName: string | undefined;
  /** What is to be known of it when it goes, beside its place. */
  readonly record?: string;
  /**
   * Resolves with the device. May be called again at any time. `given`: as who has attached it says; undefined: nobody has, the node is to do so.
   */
  attach(signal: AbortSignal, given: string | undefined): Promise<string>;
  /** Says what is wrong where what is mounted for the node is of another device than this volume's; undefined: nothing. */
  otherThan?(mounted: MountedDevice): Promise<string | undefined>;
  /** Mounts the device there, in place of the agent. Resolves with whether it did so, or there is nothing to mount. */
  mountDevice?(directory: string, device: string, signal: AbortSignal): Promise<boolean>;
}

/** Disks of the node, for pods. */
export interface NodeDisksOfPods {
  /** Resolves with where the disk is mounted for the whole node, or with the pod's device. Rejects with MountStepError. */
  publish(order: DiskOrder, signal: AbortSignal): Promise<string>;
  /** Makes the disk's file system as large as its device is by now. Rejects where it is not mounted. */
  grow(disk: Pick<DiskOrder, 'plugin' | 'place'>, signal: AbortSignal): Promise<void>;
  /** The pod has none of them any more, and nothing of them is mounted in its directory. Rejects with what could not be taken. */
  unpublish(uid: PodUid, signal: AbortSignal): Promise<void>;
  /** Whether the pod has one, or something of it. */
  remain(uid: PodUid): Promise<boolean>;
}
