import type { FcDisk } from './fc-disk.ts';
import type { IscsiDisk } from './iscsi-disk.ts';
import type { IscsiAuth } from './iscsi-initiator.ts';
import type { NodeDisksOfPods } from './disk-order.ts';

/** Disks that the node attaches by itself, for pods. */
export interface Disks extends NodeDisksOfPods {
  /** Resolve with the disk's device. Reject with MountStepError. */
  attachIscsi(disk: IscsiDisk, auth: IscsiAuth, signal: AbortSignal): Promise<string>;
  attachFc(disk: FcDisk, signal: AbortSignal): Promise<string>;
}

/** Disks, and what is done about them beside the pods. */
export interface OpenDisks extends Disks {
  /** Until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}
