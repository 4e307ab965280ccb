import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Attachments } from '../attachments.ts';
import type { FlexDrivers } from '../flex-drivers.ts';
import type { Mounts } from '../mounts.ts';
import { Detacher } from './detacher.ts';
import { DiskPaths } from './disk-paths.ts';
import type { OpenDisks } from './disks.ts';
import { fcDiskOfPlace, fcUniqueName } from './fc-disk.ts';
import { FcDisks } from './fc-disks.ts';
import { flexEnds } from './flex-ends.ts';
import { diskOfPlace, iscsiUniqueNames } from './iscsi-disk.ts';
import { IscsiInitiator } from './iscsi-initiator.ts';
import { recordedDisk } from './iscsi-record.ts';
import { Machine } from './machine.ts';
import type { MachineRoots } from './machine-roots.ts';
import { type DiskEnds, NodeDisks, type NodeDisksDeps } from './node-disks.ts';

export interface OpenDisksDeps extends Pick<NodeDisksDeps, 'mounts' | 'attachments' | 'before' | 'tell'> {
  readonly rootDir: string;
  readonly nodeName: string;
  readonly flex: FlexDrivers;
  readonly roots: MachineRoots;
  readonly mounts: Mounts;
  readonly attachments: Attachments;
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule' | 'sleep'>;
  readonly log: Pick<Logger, 'warn'>;
}

/** Disks of the node, with what a process before this one has left of them. */
export async function openDisks({
  rootDir,
  nodeName,
  flex,
  roots,
  mounts,
  attachments,
  clock,
  log,
  tell,
  before,
}: OpenDisksDeps): Promise<OpenDisks> {
  const machine = new Machine(roots, clock);
  const initiator = new IscsiInitiator(machine);
  const fc = new FcDisks(machine);
  const paths = new DiskPaths(rootDir);
  const disks: NodeDisks = new NodeDisks({
    paths,
    mounts,
    machine,
    attachments,
    ends: {
      iscsi: iscsiEnds(initiator),
      fc: fcEnds(fc),
      flexvolume: flexEnds({ flex, nodeName, podsDir: paths.pods, byController: () => attachments.byController }),
      'local-volume': localEnds,
    },
    clock,
    tell,
    idle: () => detacher.look(),
    ...(before && { before }),
  });
  const detacher = new Detacher({ disks, clock, log });
  await disks.read();
  return {
    publish: (order, signal) => disks.publish(order, signal),
    grow: (disk, signal) => disks.grow(disk, signal),
    unpublish: (uid, signal) => disks.unpublish(uid, signal),
    remain: (uid) => disks.remain(uid),
    attachIscsi: (disk, auth, signal) => initiator.attach(disk, auth, signal),
    attachFc: (disk, signal) => fc.attach(disk, signal),
    run: (signal) => detacher.run(signal),
  };
}

/** Devices of the machine, which stay with it. Several volumes may be of one, and the machine may have mounted it itself: a pod's own place alone counts. */
const localEnds: DiskEnds = {
  namesOf: () => [],
  isUse: (place, path) => path.endsWith(`/volumes/kubernetes.io~local-volume/${place}`),
  detach: async () => {},
};

const iscsiEnds = (initiator: IscsiInitiator): DiskEnds => ({
  namesOf: (place) => {
    const disk = diskOfPlace(place);
    return disk && iscsiUniqueNames(disk);
  },
  detach: async ({ place, record, others }, signal) => {
    const disk = recordedDisk(place, record);
    if (disk === undefined) return;
    const ofTarget = (): readonly { readonly lun: number }[] =>
      others()
        .map((each) => diskOfPlace(each))
        .filter((each) => each !== undefined)
        .filter(({ iqn, iface }) => iqn === disk.iqn && iface === disk.iface);
    // It goes on in another mode, or by another portal.
    if (ofTarget().some(({ lun }) => lun === disk.lun)) return;
    await initiator.detach({ disk, isShared: () => ofTarget().length > 0 }, signal);
  },
});

const fcEnds = (fc: FcDisks): DiskEnds => ({
  namesOf: (place) => [fcUniqueName(fcDiskOfPlace(place))],
  detach: async ({ place, wasUsed, others }, signal) => {
    // It was on the machine before, and somebody else may use it in a way that the kernel does not tell.
    if (!wasUsed) return;
    const disk = fcDiskOfPlace(place);
    const names = diskNames(place);
    if (others().some((other) => diskNames(other).some((name) => names.includes(name)))) return;
    await fc.detach(disk, signal);
  },
});

/** All names that a disk goes by, each with its unit. */
function diskNames(place: string): readonly string[] {
  const disk = fcDiskOfPlace(place);
  return 'wwns' in disk ? disk.wwns.map((wwn) => `${wwn.toLowerCase()} ${disk.lun}`) : disk.wwids;
}
