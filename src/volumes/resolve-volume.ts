import { errorText } from '../base/error-text.ts';
import { migratedPersistent, migratedVolume } from '../model/csi-migration.ts';
import { matchesNodeSelector } from '../model/node-affinity.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { ClaimReader, PersistentVolume, PersistentVolumeClaim } from '../ports/claim-reader.ts';
import { MountStepError } from '../model/mount-step-error.ts';
import { type PodVolume, VolumeRefusedError, type VolumeSource } from './volume-kind.ts';

/** What a pod's volume comes down to. */
export interface ResolvedVolume {
  /** As directory and messages name it: the pod's own name for it, or the persistent volume's. */
  readonly name: string;
  readonly source: VolumeSource;
  /** The name of the source's kind, supported or not. */
  readonly kind: string;
  readonly readOnly: boolean;
  readonly mountOptions: readonly string[];
  /** See PresentVolume. */
  readonly supplementalGroup: number | undefined;
  /** Why it must not be mounted here. */
  readonly refusal: MountStepError | undefined;
}

/** Whether containers mount it, or have it as a device. */
export type VolumeUse = 'mount' | 'device';

export interface ClaimFacts {
  readonly claims: ClaimReader;
  /** This node, whose labels a volume may ask for; undefined while it is not known. */
  readonly node: () => Node | undefined;
}

/** Follows a claim to its volume; anything else is what it is. Rejects with VolumeRefusedError where a claim leads nowhere (desired_state_of_world_populator.go). */
export async function resolveVolume(
  volume: PodVolume,
  pod: Pod,
  how: VolumeUse,
  facts: ClaimFacts,
  signal: AbortSignal,
): Promise<ResolvedVolume> {
  const { name, persistentVolumeClaim, ephemeral, ...source } = volume;
  if (!persistentVolumeClaim && !ephemeral) {
    if (how === 'device') throw new VolumeRefusedError(`volume ${name} is no claim, but is specified in volumeDevices`);
    const own = { readOnly: false, mountOptions: [], supplementalGroup: undefined, refusal: undefined };
    const persistent = orRefused(() => migratedVolume({ name, ...source }, pod.metadata.namespace));
    if (persistent === undefined) return { name, source, kind: kindNamed(source), ...own };
    const readOnly = persistent.spec?.csi?.readOnly === true;
    return {
      ...own,
      name: persistent.metadata?.name ?? name,
      source: { claimed: { persistent, claim: {}, isMigrated: true } },
      kind: 'csi',
      readOnly,
    };
  }
  const claimName = persistentVolumeClaim?.claimName ?? `${pod.metadata.name}-${name}`;
  try {
    const claim = await boundClaim(claimName, pod, facts.claims, signal);
    if (ephemeral && !isControlledBy(claim, pod)) throw new VolumeRefusedError('not the ephemeral PVC for the pod');
    const found = await volumeOf(claim, facts.claims, signal);
    const persistent = orRefused(() => migratedPersistent(found));
    checkMode(name, persistent, how);
    return persistentSource(
      name,
      { persistent, claim, isMigrated: persistent !== found },
      persistentVolumeClaim?.readOnly ?? false,
      facts.node(),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof VolumeRefusedError)) throw error;
    throw new VolumeRefusedError(`error processing PVC ${pod.metadata.namespace}/${claimName}: ${error.message}`, { cause: error.cause });
  }
}

function orRefused<T>(migrate: () => T): T {
  try {
    return migrate();
  } catch (cause) {
    throw new VolumeRefusedError(errorText(cause), { cause });
  }
}

async function boundClaim(name: string, { metadata }: Pod, claims: ClaimReader, signal: AbortSignal): Promise<PersistentVolumeClaim> {
  const claim = await claims.claim(metadata.namespace, name, signal).catch((error: unknown) => {
    throw new VolumeRefusedError(`failed to fetch PVC from API server: ${errorText(error)}`, { cause: error });
  });
  if (claim.metadata?.deletionTimestamp !== undefined) throw new VolumeRefusedError('PVC is being deleted');
  if (claim.status?.phase !== 'Bound') throw new VolumeRefusedError('PVC is not bound');
  if (!claim.spec?.volumeName) throw new VolumeRefusedError('PVC has empty pvc.Spec.VolumeName');
  return claim;
}

function isControlledBy({ metadata }: PersistentVolumeClaim, pod: Pod): boolean {
  return (metadata?.ownerReferences ?? []).some(({ controller, uid }) => controller === true && uid === pod.metadata.uid);
}

async function volumeOf({ metadata, spec }: PersistentVolumeClaim, claims: ClaimReader, signal: AbortSignal): Promise<PersistentVolume> {
  const name = spec?.volumeName ?? '';
  const volume = await claims.volume(name, signal).catch((error: unknown) => {
    throw new VolumeRefusedError(`failed to fetch PV ${name} from API server: ${errorText(error)}`, { cause: error });
  });
  const claimRef = volume.spec?.claimRef;
  if (claimRef === undefined) {
    throw new VolumeRefusedError(`found PV object ${name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`);
  }
  if (claimRef.uid !== metadata?.uid) {
    const words = `its pv.Spec.ClaimRef.UID ${claimRef.uid ?? ''} does not point to claim.UID ${metadata?.uid ?? ''}`;
    throw new VolumeRefusedError(`found PV object ${name} but ${words}`);
  }
  return volume;
}

/** In the kubelet's words (desired_state_of_world_populator.go). */
function checkMode(name: string, { spec = {} }: PersistentVolume, how: VolumeUse): void {
  const { volumeMode = 'Filesystem', csi, iscsi, fc, local } = spec;
  if (how === 'mount' && volumeMode !== 'Filesystem') {
    throw new VolumeRefusedError(`volume ${name} has volumeMode ${volumeMode}, but is specified in volumeMounts`);
  }
  if (how === 'device' && volumeMode !== 'Block') {
    throw new VolumeRefusedError(`volume ${name} has volumeMode ${volumeMode}, but is specified in volumeDevices`);
  }
  if (how === 'device' && (csi ?? iscsi ?? fc ?? local) === undefined) {
    throw new VolumeRefusedError(
      `volume ${name} has volumeMode Block, which this node supports for local, iscsi and fc volumes and those of CSI drivers alone`,
    );
  }
}

/** pkg/volume/util VolumeGidAnnotationKey */
const VOLUME_GID = 'pv.beta.kubernetes.io/gid';

function persistentSource(
  ofPod: string,
  claimed: NonNullable<VolumeSource['claimed']>,
  readOnly: boolean,
  node: Node | undefined,
): ResolvedVolume {
  const { metadata, spec = {} } = claimed.persistent;
  const { hostPath, nfs, local, flexVolume, iscsi, fc } = spec;
  const group = metadata?.annotations?.[VOLUME_GID];
  const required = spec.nodeAffinity?.required;
  const elsewhere = required !== undefined && (node === undefined || !matchesNodeSelector(required, node));
  return {
    name: metadata?.name ?? ofPod,
    source: {
      ...(hostPath && { hostPath }),
      ...(nfs && { nfs }),
      ...(local && { local }),
      ...(flexVolume && { flexVolume }),
      ...(iscsi && { iscsi }),
      ...(fc && { fc }),
      claimed,
    },
    kind: kindNamed(spec),
    readOnly,
    mountOptions: spec.mountOptions ?? [],
    supplementalGroup: group !== undefined && /^\d{1,10}$/.test(group) ? Number(group) : undefined,
    refusal: elsewhere ? new MountStepError('NodeAffinity check', 'no matching NodeSelectorTerms') : undefined,
  };
}

/** What a volume's spec says beside its kind. */
const settings: ReadonlySet<string> = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

const kindNamed = (spec: object): string => Object.keys(spec).find((key) => !settings.has(key)) ?? 'unknown';
