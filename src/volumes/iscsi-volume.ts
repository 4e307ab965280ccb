import { errorText } from '../base/error-text.ts';
import { MountStepError } from '../model/mount-step-error.ts';
import type { ChapValues } from './disks/chap.ts';
import { iscsiDisk, iscsiPlace, iscsiUniqueName } from './disks/iscsi-disk.ts';
import { iscsiRecord } from './disks/iscsi-record.ts';
import { setUpDisk } from './disk-volume.ts';
import type { KindOf, VolumeKind, VolumeTask } from './volume-kind.ts';

/** A disk of an iSCSI target, attached by the node's own iscsiadm (pkg/volume/iscsi). */
export const iscsiVolume: KindOf = ({ iscsi, claimed }) => {
  if (!iscsi) return undefined;
  const kind: VolumeKind = {
    plugin: 'kubernetes.io~iscsi',
    changes: false,
    takesMountOptions: true,
    setUp: async (task, signal) => {
      const disk = iscsiDisk(task.name, iscsi);
      const { chapAuthDiscovery: discovery = false, chapAuthSession: session = false, secretRef, targetPortal } = iscsi;
      const secretOf = async (): Promise<ChapValues> => {
        if (!discovery && !session) return {};
        // A pod's own volume names a secret beside the pod.
        const namespace = claimed === undefined ? undefined : secretRef?.namespace;
        return chapValues(namespace ?? task.pod.metadata.namespace, secretRef?.name, task, signal);
      };
      return setUpDisk(
        {
          plugin: 'iscsi',
          place: iscsiPlace(disk),
          uniqueName: iscsiUniqueName(targetPortal, disk.iqn, disk.lun),
          record: iscsiRecord(disk),
          attach: async (attaching) => task.disks.attachIscsi(disk, { discovery, session, secret: await secretOf() }, attaching),
        },
        iscsi,
        claimed,
        task,
        signal,
      );
    },
  };
  return kind;
};

/** Never logged. */
async function chapValues(namespace: string, name: string | undefined, { facts }: VolumeTask, signal: AbortSignal): Promise<ChapValues> {
  if (!name) throw new MountStepError('WaitForAttach', 'CHAP enabled but secret name or namespace is empty');
  try {
    const { data = {} } = await facts.objects.get({ kind: 'Secret', namespace, name }, signal);
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
  } catch (cause) {
    signal.throwIfAborted();
    throw new MountStepError('WaitForAttach', `Couldn't get secret ${namespace}/${name} error: ${errorText(cause)}`, cause);
  }
}
