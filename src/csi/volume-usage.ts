import type { Clock } from '../base/clock.ts';
import type { PodUid } from '../model/pod.ts';
import type { CsiVolumeUsage } from '../ports/csi-volumes.ts';
import type { FilesystemStats } from '../ports/pod-stats.ts';
import { Node, VolumeUsage_Unit as Unit } from './api/csi_pb.js';
import type { CsiDrivers } from './csi-drivers.ts';
import type { CsiDriver } from './csi-driver.ts';
import type { KnownVolumes, Use } from './known-volumes.ts';

/** Who asks for the whole node's use must not wait for one driver. */
const PATIENCE_MS = 1_000;

/** See CsiVolumes. */
export async function volumeUsage(
  { known, drivers, clock }: { readonly known: KnownVolumes; readonly drivers: CsiDrivers; readonly clock: Pick<Clock, 'now'> },
  uid: PodUid,
  name: string,
  signal: AbortSignal,
): Promise<CsiVolumeUsage | undefined> {
  const use = known.usesOfPod(uid).find((each) => each.name === name);
  if (use?.task === undefined) return undefined;
  const { volume } = use.task;
  const driver = drivers.find(use.data.driverName);
  if (driver?.can('GET_VOLUME_STATS') !== true) return { volume, stats: undefined };
  return { volume, stats: await asked(use, driver, clock.now(), signal) };
}

/** By NodeGetVolumeStats. */
async function asked({ data, paths }: Use, driver: CsiDriver, atMs: number, signal: AbortSignal): Promise<FilesystemStats | undefined> {
  try {
    const request = { volumeId: data.volumeHandle, volumePath: paths.target };
    const { usage } = await driver.call(Node.method.nodeGetVolumeStats, request, signal, { timeoutMs: PATIENCE_MS });
    const [bytes, inodes] = [Unit.BYTES, Unit.INODES].map((unit) => usage.find((each) => each.unit === unit));
    return {
      atMs,
      ...(bytes && { availableBytes: Number(bytes.available), capacityBytes: Number(bytes.total), usedBytes: Number(bytes.used) }),
      ...(inodes && { inodesFree: Number(inodes.available), inodes: Number(inodes.total), inodesUsed: Number(inodes.used) }),
    };
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
