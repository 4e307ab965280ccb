import type { V1ISCSIPersistentVolumeSource, V1LocalVolumeSource } from '@kubernetes/client-node';
import type { SerialByKey } from '../base/serial-by-key.ts';
import type { Pod } from '../model/pod.ts';
import type { Wire } from '../model/wire.ts';
import type { ClaimedVolume, CsiVolumes } from '../ports/csi-volumes.ts';
import type { HostFiles } from '../ports/host-files.ts';
import type { Disks } from './disks/disks.ts';
import type { FlexDrivers } from './flex-drivers.ts';
import type { Mounts } from './mounts.ts';
import type { PayloadFacts } from './payload.ts';
import type { VolumeGrowth } from './volume-growth.ts';

export type PodVolume = NonNullable<Pod['spec']['volumes']>[number];

/** What a volume is made of: of a pod's own volume, or of the persistent volume behind a claim. */
export interface VolumeSource extends Omit<PodVolume, 'name' | 'iscsi'> {
  readonly iscsi?: Wire<V1ISCSIPersistentVolumeSource>;
  readonly local?: Wire<V1LocalVolumeSource>;
  /** The whole of what a claim is bound to, for who needs it. */
  readonly claimed?: ClaimedVolume;
}

/** One volume to be made for one pod. */
export interface VolumeTask {
  readonly pod: Pod;
  /** As directories and messages name it. */
  readonly name: string;
  /** What the pod calls it. */
  readonly volume: string;
  /** Its directory under the pod's; not there yet at first. A kind that has none of its own leaves it alone. */
  readonly directory: string;
  /** Of a claim that is only read. */
  readonly readOnly: boolean;
  readonly mountOptions: readonly string[];
  readonly facts: PayloadFacts;
  readonly mounts: Mounts;
  readonly csi: CsiVolumes;
  readonly flex: FlexDrivers;
  readonly disks: Disks;
  /** Looks after what this node makes larger itself. */
  readonly growth: Pick<VolumeGrowth, 'keep'>;
  readonly nodeName: string;
  /** Looks at what is not the agent's own. */
  readonly hostFiles: HostFiles;
  /** As the work, which gives the volume's files to who may use them. */
  readonly giving: (work: () => Promise<void>) => Promise<void>;
  /** Work on one directory of the node, which several pods may have, is done for one pod after the other. */
  readonly turns: Pick<SerialByKey<string>, 'runWithin'>;
  /** Where all pods have their directories. */
  readonly podsDir: string;
  readonly nowMs: number;
}

/** A volume that is there. */
export interface VolumeMount {
  /** What containers are shown. */
  readonly hostPath: string;
  /** Whether containers may only read it, whatever they ask for. */
  readonly readOnly: boolean;
  /** It is the node's, or a server's: a file system that may not answer. Others lie on the agent's own, or in memory. */
  readonly isHosts?: true;
  /** It is a device: no container mounts it. */
  readonly isDevice?: true;
  /** It is the pod's alone: where the machine labels files, they get the label of the pod's processes. */
  readonly isOwn?: true;
  /** It is an image: the engine mounts it, or it is exported below `hostPath` for a container that is to be made. */
  readonly isImage?: true;
}

/** A volume of a pod, as its containers get it. */
export interface PresentVolume extends VolumeMount {
  /** A group that its users have to be in, as a persistent volume may say. */
  readonly supplementalGroup: number | undefined;
}

/** One kind of volume. What it leaves under the pod's directory is unmounted and removed with it, the same way for all kinds. */
export interface VolumeKind {
  /** The directory of its kind under ROOT/pods/UID/volumes: kubernetes.io~nfs. */
  readonly plugin: string;
  /** What it shows changes: it is set up again with each look at the pod. Others are left alone once they are there. */
  readonly changes: boolean;
  /** Whether `mountOptions` are taken. */
  readonly takesMountOptions: boolean;
  /** Makes the volume, and finds again what is there. Rejects in the kubelet's words. */
  setUp(task: VolumeTask, signal: AbortSignal): Promise<VolumeMount>;
}

export type KindName = {
  [K in keyof VolumeSource]-?: K;
}[keyof VolumeSource];

/** A kind as it is written down: from its own part of the source. */
export interface KindRules<K extends KindName> {
  readonly plugin: string;
  readonly changes?: boolean;
  readonly takesMountOptions?: boolean;
  readonly setUp: (source: NonNullable<VolumeSource[K]>, task: VolumeTask, signal: AbortSignal) => Promise<VolumeMount>;
}

/** Undefined where the source is of another kind. */
export type KindOf = (source: VolumeSource) => VolumeKind | undefined;

export function volumeKind<K extends KindName>(
  name: K,
  { plugin, changes = false, takesMountOptions = false, setUp }: KindRules<K>,
): KindOf {
  return (source) => {
    const own: VolumeSource[K] | undefined = source[name];
    if (own === undefined || own === null) return undefined;
    return { plugin, changes, takesMountOptions, setUp: (task, signal) => setUp(own, task, signal) };
  };
}

/** A volume that this pod cannot have as things are: nothing was tried. */
export class VolumeRefusedError extends Error {
  override readonly name = 'VolumeRefusedError';
}
