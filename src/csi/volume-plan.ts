import type { V1CSIDriver } from '@kubernetes/client-node';
import { Quantity } from '../model/quantity.ts';
import type { Pod } from '../model/pod.ts';
import type { Wire } from '../model/wire.ts';
import type { CsiVolumeTask } from '../ports/csi-volumes.ts';
import type { CsiDriver } from './csi-driver.ts';
import { inlineHandle } from './volume-paths.ts';

/** How a driver wants to be used, as its CSIDriver object says; undefined: there is none. */
export type CsiDriverObject = Wire<V1CSIDriver>;

export interface SecretRef {
  readonly namespace: string;
  readonly name: string;
}

/** What a task comes down to, whatever it is made of. */
export interface VolumePlan {
  readonly name: string;
  readonly driver: string;
  readonly handle: string;
  readonly isPersistent: boolean;
  readonly isBlock: boolean;
  /** It is of a kind that is the driver's by now. */
  readonly isMigrated: boolean;
  readonly readOnly: boolean;
  readonly fsType: string;
  readonly accessModes: readonly string[];
  readonly mountOptions: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
  readonly stageSecret: SecretRef | undefined;
  readonly publishSecret: SecretRef | undefined;
  readonly expandSecret: SecretRef | undefined;
}

/**
 * It is a part of what the node's status says, and a pod may choose it (azureDisk and others). The specification has 128 bytes, which clouds
 * do not keep to.
 */
const LONGEST_HANDLE = 1_024;

/** Throws where the task is of no CSI volume, or of one that nobody can be told of. */
export function volumePlan({ pod, name, source, readOnly }: CsiVolumeTask): VolumePlan {
  const { uid, namespace } = pod.metadata;
  if ('inline' in source) {
    const { driver, volumeAttributes, nodePublishSecretRef, fsType, readOnly: onlyRead } = source.inline;
    const secret = nodePublishSecretRef?.name;
    return {
      name,
      driver,
      handle: inlineHandle(uid, name),
      isPersistent: false,
      isBlock: false,
      isMigrated: false,
      readOnly: readOnly || onlyRead === true,
      fsType: fsType ?? '',
      accessModes: ['ReadWriteOnce'],
      mountOptions: [],
      attributes: volumeAttributes ?? {},
      stageSecret: undefined,
      publishSecret: secret ? { namespace, name: secret } : undefined,
      expandSecret: undefined,
    };
  }
  const { csi, accessModes = [], mountOptions = [], volumeMode } = source.persistent.spec ?? {};
  if (csi === undefined) throw new Error(`persistent volume ${name} is none of CSI`);
  const bytes = Buffer.byteLength(csi.volumeHandle);
  if (bytes > LONGEST_HANDLE) throw new Error(`the volume handle of ${name} has ${bytes} bytes, of at most ${LONGEST_HANDLE}`);
  return {
    name,
    driver: csi.driver,
    handle: csi.volumeHandle,
    isPersistent: true,
    isBlock: volumeMode === 'Block',
    isMigrated: source.isMigrated === true,
    readOnly,
    fsType: csi.fsType ?? '',
    accessModes,
    mountOptions,
    attributes: csi.volumeAttributes ?? {},
    stageSecret: secretRef(csi.nodeStageSecretRef),
    publishSecret: secretRef(csi.nodePublishSecretRef),
    expandSecret: secretRef(csi.nodeExpandSecretRef),
  };
}

function secretRef(ref: { readonly name?: string; readonly namespace?: string } | undefined): SecretRef | undefined {
  return ref?.name ? { name: ref.name, namespace: ref.namespace ?? '' } : undefined;
}

/** Why the driver does not take volumes of this life, in the kubelet's words (supportsVolumeLifecycleMode); undefined: it does. */
export function lifecycleFault({ driver, isPersistent }: VolumePlan, object: CsiDriverObject | undefined): string | undefined {
  const mode = isPersistent ? 'Persistent' : 'Ephemeral';
  if (object === undefined) {
    return isPersistent ? undefined : `volume mode "${mode}" not supported by driver ${driver} (no CSIDriver object)`;
  }
  const modes = object.spec.volumeLifecycleModes ?? ['Persistent'];
  if (modes.includes(mode)) return undefined;
  return `volume mode "${mode}" not supported by driver ${driver} (only supports ${JSON.stringify(modes)})`;
}

/** Whether somebody has to attach the volume to the node before. */
export const needsAttach = ({ isPersistent }: VolumePlan, object: CsiDriverObject | undefined): boolean =>
  isPersistent && object?.spec.attachRequired !== false;

/** Whether no other pod may have the volume (operation_generator.go: what the pod wants of several modes is not known). */
export const isForOnePod = ({ accessModes }: VolumePlan): boolean => accessModes.length === 1 && accessModes[0] === 'ReadWriteOncePod';

/** Who gives the volume to the pod's fsGroup: the driver as it mounts, the agent afterwards, or nobody (csi_mounter.go supportsFSGroup). */
export function groupGiver(
  plan: VolumePlan,
  pod: Pod,
  driver: Pick<CsiDriver, 'can'>,
  object: CsiDriverObject | undefined,
): 'driver' | 'agent' | undefined {
  if (pod.spec.securityContext?.fsGroup === undefined || plan.isBlock) return undefined;
  if (driver.can('VOLUME_MOUNT_GROUP')) return 'driver';
  const policy = object?.spec.fsGroupPolicy ?? 'ReadWriteOnceWithFSType';
  if (policy === 'None' || plan.readOnly) return undefined;
  if (policy === 'File') return 'agent';
  return plan.fsType !== '' && plan.accessModes.includes('ReadWriteOnce') ? 'agent' : undefined;
}

/** What the pod is, for a driver that wants to know (podInfoOnMount, pkg/volume/csi getPodInfoAttrs). */
export function podInfo(
  { metadata, spec }: Pod,
  { isPersistent }: VolumePlan,
  object: CsiDriverObject | undefined,
): Readonly<Record<string, string>> {
  if (object?.spec.podInfoOnMount !== true) return {};
  return {
    'csi.storage.k8s.io/pod.name': metadata.name,
    'csi.storage.k8s.io/pod.namespace': metadata.namespace,
    'csi.storage.k8s.io/pod.uid': metadata.uid,
    'csi.storage.k8s.io/serviceAccount.name': spec.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(!isPersistent),
  };
}

/** How large the file system is to become, in bytes; undefined: it is so already, as the claim says. */
export function bytesToGrowTo(task: Pick<CsiVolumeTask, 'source'>): bigint | undefined {
  if ('inline' in task.source) return undefined;
  const { persistent, claim } = task.source;
  const [wanted, has] = [persistent.spec?.capacity?.['storage'], claim.status?.capacity?.['storage']];
  if (wanted === undefined || has === undefined) return undefined;
  return Quantity.fromJson(wanted).cmp(Quantity.fromJson(has)) > 0 ? Quantity.fromJson(wanted).value() : undefined;
}
