import { crc32 } from 'node:zlib';
import { isJsonObject } from '../base/json-object.ts';
import type { PodUid } from '../model/pod.ts';
import type { PreparedDevice } from './prepared-device.ts';

/** What a driver has of a claim. */
export interface DriverState {
  readonly devices: readonly PreparedDevice[];
  /** The boot of the machine in which it has prepared the claim; undefined: it may have, or not. */
  readonly preparedIn: string | undefined;
}

/** A claim that pods of this node use, or are about to, or have used. */
export interface ClaimEntry {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly podUids: Set<PodUid>;
  /** Those that are to be asked to unprepare it. */
  readonly drivers: Map<string, DriverState>;
}

/** Where a kubelet has it. */
export const CLAIM_STATE_FILE = 'dra_manager_state';

/** What the file may have, so that it can be read again: see StateFiles. */
export const MAX_CHECKPOINT_BYTES = 15 << 20;

export interface ClaimCheckpoint {
  readonly Data: string;
  readonly Checksum: number;
}

/**
 * As a kubelet writes it (pkg/kubelet/cm/dra/state, CheckpointAPIVersion v1). PreparedIn is this agent's own: a kubelet passes over it, and
 * prepares again what it does not know to be prepared. Throws where it would be too large to be read again.
 */
export function claimCheckpoint(entries: Iterable<ClaimEntry>): ClaimCheckpoint {
  const Entries = [...entries].map(({ uid, name, namespace, podUids, drivers }) => ({
    ClaimUID: uid,
    ClaimName: name,
    Namespace: namespace,
    PodUIDs: Object.fromEntries([...podUids].map((each) => [each, {}])),
    DriverState: Object.fromEntries(
      [...drivers].map(([driver, { devices, preparedIn }]) => [driver, { Devices: devices.map(written), PreparedIn: preparedIn }]),
    ),
  }));
  const Data = JSON.stringify({ kind: 'DRACheckpoint', apiVersion: 'checkpoint.dra.kubelet.k8s.io/v1', Entries });
  if (Data.length > MAX_CHECKPOINT_BYTES)
    throw new Error(`what drivers say of all claims takes ${Data.length} bytes, more than the ${MAX_CHECKPOINT_BYTES} allowed`);
  return { Data, Checksum: crc32(Data) };
}

/** Undefined for what is no checkpoint, or is damaged. */
export function claimsIn(json: unknown): readonly ClaimEntry[] | undefined {
  if (!isJsonObject(json) || typeof json['Data'] !== 'string' || crc32(json['Data']) !== json['Checksum']) return undefined;
  let data: unknown;
  try {
    data = JSON.parse(json['Data']);
  } catch {
    return undefined;
  }
  if (!isJsonObject(data)) return undefined;
  const entries = data['Entries'] ?? [];
  if (!Array.isArray(entries)) return undefined;
  const read = entries.map(entryIn);
  return read.every((each) => each !== undefined) ? read : undefined;
}

const written = ({ poolName, deviceName, requestNames, cdiDeviceIds }: PreparedDevice): object => ({
  PoolName: poolName,
  DeviceName: deviceName,
  RequestNames: requestNames,
  CDIDeviceIDs: cdiDeviceIds,
});

function entryIn(json: unknown): ClaimEntry | undefined {
  if (!isJsonObject(json)) return undefined;
  const { ClaimUID: uid, ClaimName: name, Namespace: namespace, PodUIDs, DriverState: states } = json;
  if (typeof uid !== 'string' || typeof name !== 'string' || typeof namespace !== 'string') return undefined;
  const drivers = isJsonObject(states) ? Object.entries(states).map(([driver, state]) => [driver, stateIn(state)] as const) : [];
  return {
    uid,
    name,
    namespace,
    podUids: new Set(isJsonObject(PodUIDs) ? (Object.keys(PodUIDs) as PodUid[]) : []),
    drivers: new Map(drivers),
  };
}

function stateIn(json: unknown): DriverState {
  if (!isJsonObject(json)) return { devices: [], preparedIn: undefined };
  const { Devices, PreparedIn } = json;
  return {
    devices: Array.isArray(Devices) ? Devices.filter(isJsonObject).map(deviceIn) : [],
    preparedIn: typeof PreparedIn === 'string' ? PreparedIn : undefined,
  };
}

const deviceIn = (json: Readonly<Record<string, unknown>>): PreparedDevice => ({
  poolName: textIn(json['PoolName']),
  deviceName: textIn(json['DeviceName']),
  requestNames: textsIn(json['RequestNames']),
  cdiDeviceIds: textsIn(json['CDIDeviceIDs']),
});

const textIn = (json: unknown): string => (typeof json === 'string' ? json : '');
const textsIn = (json: unknown): readonly string[] => (Array.isArray(json) ? json.filter((each) => typeof each === 'string') : []);
