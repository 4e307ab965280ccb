import type { Clock } from '../base/clock.ts';
import type { PodUid } from '../model/pod.ts';
import type { FilesystemStats } from '../ports/pod-stats.ts';
import { Node, VolumeUsage_Unit as Unit } from './api/csi_pb.js';
import type { CsiDrivers } from './csi-drivers.ts';
import type { KnownVolumes } from './known-volumes.ts';

/** Who asks for the whole node's use must not wait for one driver. */
const PATIENCE_MS = 1_000;

/** What a volume holds, as its driver says (NodeGetVolumeStats); undefined: it does not say, or not in time. */
export async function volumeUsage(
  { known, drivers, clock }: { readonly known: KnownVolumes; readonly drivers: CsiDrivers; readonly clock: Pick<Clock, 'now'> },
  uid: PodUid,
  name: string,
  signal: AbortSignal,
): Promise<FilesystemStats | undefined> {
  const use = known.usesOfPod(uid).find((each) => each.name === name);
  const driver = use && drivers.find(use.data.driverName);
  if (use === undefined || driver?.can('GET_VOLUME_STATS') !== true) return undefined;
  try {
    const request = { volumeId: use.data.volumeHandle, volumePath: use.paths.target };
    const { usage } = await driver.call(Node.method.nodeGetVolumeStats, request, signal, PATIENCE_MS);
    const [bytes, inodes] = [Unit.BYTES, Unit.INODES].map((unit) => usage.find((each) => each.unit === unit));
    return {
      atMs: clock.now(),
      ...(bytes && { availableBytes: Number(bytes.available), capacityBytes: Number(bytes.total), usedBytes: Number(bytes.used) }),
      ...(inodes && { inodesFree: Number(inodes.available), inodes: Number(inodes.total), inodesUsed: Number(inodes.used) }),
    };
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
