import type { Clock } from '../base/clock.ts';
import type { Happenings } from './happenings.ts';

/** What is done about a volume that is there already, as the kubelet's metrics name it (pkg/volume/util/operationexecutor). */
export type StorageOperation =
  | 'volume_unmount'
  | 'unmap_volume'
  | 'unmount_device'
  | 'unmap_device'
  | 'volume_fs_resize'
  | 'volume_apply_access_control';

/** The kind of a volume; of what a CSI driver makes, the driver's name belongs to it. */
export interface StorageKind {
  /** "kubernetes.io/nfs", "kubernetes.io/csi:ebs.csi.aws.com" */
  readonly plugin: string;
  /** It is of a kind that is the driver's by now. */
  readonly isMigrated?: boolean;
}

export interface StorageOperated extends StorageKind {
  readonly operation: StorageOperation;
  readonly tookMs: number;
  readonly failed: boolean;
}

/** Tells of what is done about volumes. */
export interface StorageTeller {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly tell: Pick<Happenings, 'storageOperated'>;
}

/** As the work, which does all of these. Tells how it went, unless it was given up. */
export async function toldStorage<T>(
  { clock, tell }: StorageTeller,
  operations: readonly (StorageKind & Pick<StorageOperated, 'operation'>)[],
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const beganMs = clock.monotonicMs();
  const ended = (failed: boolean): void => {
    const tookMs = clock.monotonicMs() - beganMs;
    for (const { operation, plugin, isMigrated = false } of operations)
      tell.storageOperated({ operation, plugin, isMigrated, tookMs, failed });
  };
  let result: T;
  try {
    result = await work();
  } catch (error) {
    if (!signal.aborted) ended(true);
    throw error;
  }
  ended(false);
  return result;
}

/** Of what a CSI driver makes. */
export const csiPlugin = (driver: string): string => `kubernetes.io/csi:${driver}`;
