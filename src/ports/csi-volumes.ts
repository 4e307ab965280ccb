import type { V1CSIVolumeSource } from '@kubernetes/client-node';
import type { Pod, PodUid } from '../model/pod.ts';
import type { Wire } from '../model/wire.ts';
import type { PersistentVolume, PersistentVolumeClaim } from './claim-reader.ts';
import type { FilesystemStats } from './pod-stats.ts';

/** What a CSI driver is to make: a volume that the pod itself declares, or the one behind a claim. */
export type CsiSource = { readonly inline: Wire<V1CSIVolumeSource> } | ClaimedVolume;

/** The volume behind a claim, and the claim. */
export interface ClaimedVolume {
  readonly persistent: PersistentVolume;
  readonly claim: PersistentVolumeClaim;
  /** It is of a kind that is a CSI driver's by now. */
  readonly isMigrated?: boolean;
}

/** A volume that a driver makes for one pod. */
export interface CsiVolumeTask {
  readonly pod: Pod;
  /** As directories and messages name it: the pod's own name for it, or the persistent volume's. One part of a path. */
  readonly name: string;
  /** What the pod calls it. */
  readonly volume: string;
  readonly source: CsiSource;
  /** Of a claim that is only read. */
  readonly readOnly: boolean;
  /** Gives what is in the directory to the pod's fsGroup. */
  readonly giveToGroup: (directory: string, fsGroup: number, signal: AbortSignal) => Promise<void>;
}

export interface CsiVolumeUsage {
  /** What the pod calls it. */
  readonly volume: string;
  /** As its driver says; undefined: it does not say, or not in time. */
  readonly stats: FilesystemStats | undefined;
}

/** Volumes that CSI drivers make. What one call of a driver takes is bounded; calls about one volume are made one after the other. */
export interface CsiVolumes {
  /**
   * Makes the volume, or finds again what is there: resolves with the directory, or for a claim of mode Block the device, to be shown. Rejects with
   * MountStepError in the kubelet's words; what then is left is `unpublish`'s to undo.
   */
  publish(task: CsiVolumeTask, signal: AbortSignal): Promise<string>;
  /** Whether what `publish` has resolved with has the context of SELinux that the pod's containers want: nobody has to label its files. */
  hasContext(path: string): Promise<boolean>;
  /** Takes all of these volumes from the pod, which no longer runs. Rejects with what could not be taken, after all others were. */
  unpublish(uid: PodUid, signal: AbortSignal): Promise<void>;
  /** Whether the pod has such volumes here, or something of them. */
  remain(uid: PodUid): Promise<boolean>;
  /** What is to be told of a pod's volume of that name; undefined: it is not known here. */
  usage(uid: PodUid, name: string, signal: AbortSignal): Promise<CsiVolumeUsage | undefined>;
}

/** Where there are none. */
export const noCsiVolumes: CsiVolumes = {
  publish: async () => {
    throw new Error('this node has no CSI volumes');
  },
  hasContext: async () => false,
  unpublish: async () => {},
  remain: async () => false,
  usage: async () => undefined,
};
