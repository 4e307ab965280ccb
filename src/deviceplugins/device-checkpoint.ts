import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { isJsonObject } from '../base/json-object.ts';
import { ofMap, printedSum } from '../model/checkpoint-sum.ts';
import type { PodUid } from '../model/pod.ts';
import { ContainerAllocateResponseSchema } from './api/deviceplugin_pb.js';
import type { Allocation, DeviceAllocations } from './device-allocations.ts';

/** kubelet_internal_checkpoint as a kubelet writes it since 1.20, with devices by NUMA node (pkg/kubelet/cm/devicemanager/checkpoint). */
export interface DeviceCheckpoint {
  readonly Data: CheckpointData;
  readonly Checksum: number;
}

interface CheckpointData {
  readonly PodDeviceEntries: readonly CheckpointEntry[] | null;
  /** Those that are healthy, by resource. */
  readonly RegisteredDevices: Readonly<Record<string, readonly string[]>>;
}

interface CheckpointEntry {
  readonly PodUID: string;
  readonly ContainerName: string;
  readonly ResourceName: string;
  /** By NUMA node; "-1": attached to none. */
  readonly DeviceIDs: Readonly<Record<string, readonly string[]>>;
  /** A ContainerAllocateResponse, in base64. */
  readonly AllocResp: string;
}

/** What was allocated, and the resources that plugins had listed. */
export interface RestoredDevices {
  readonly allocations: readonly (readonly [uid: PodUid, container: string, resource: string, allocation: Allocation])[];
  readonly resources: readonly string[];
}

/** What the file may have, so that it can be read again: see StateFiles. */
const MOST_BYTES = 15 << 20;

/** Throws where what pods have is more than can be read again. */
export function deviceCheckpoint(allocations: DeviceAllocations, registered: ReadonlyMap<string, readonly string[]>): DeviceCheckpoint {
  const entries = allocations.all().map(([PodUID, ContainerName, ResourceName, { byNode, response }]) => ({
    PodUID,
    ContainerName,
    ResourceName,
    DeviceIDs: Object.fromEntries(byNode),
    AllocResp: Buffer.from(toBinary(ContainerAllocateResponseSchema, response)).toString('base64'),
  }));
  const PodDeviceEntries = entries.length > 0 ? entries : null;
  const names = Object.fromEntries([...registered.keys()].map((name) => [name, []]));
  const bytes = sizeOf({ PodDeviceEntries, RegisteredDevices: names });
  if (bytes > MOST_BYTES) throw new Error(`what pods have of devices takes ${bytes} bytes, more than the ${MOST_BYTES} allowed`);
  const whole = { PodDeviceEntries, RegisteredDevices: Object.fromEntries(registered) };
  // Of what is listed nobody reads more than the names.
  const Data = sizeOf(whole) > MOST_BYTES ? { PodDeviceEntries, RegisteredDevices: names } : whole;
  return { Data, Checksum: sumOf(Data) };
}

/** Throws with what is wrong: it is damaged, or of another kind. */
export function readDeviceCheckpoint(json: unknown): RestoredDevices {
  if (!isJsonObject(json) || !isJsonObject(json['Data'])) throw new Error('it is no checkpoint of devices');
  const { PodDeviceEntries: listed, RegisteredDevices: registered } = json['Data'];
  const Data = {
    PodDeviceEntries: listed === null || listed === undefined ? null : arrayOf(listed).map(entryOf),
    RegisteredDevices: listsOf(registered ?? {}),
  };
  if (sumOf(Data) !== json['Checksum']) throw new Error(`checkpoint is corrupted: its checksum is not ${String(json['Checksum'])}`);
  return {
    allocations: (Data.PodDeviceEntries ?? []).map((entry) => [
      entry.PodUID as PodUid,
      entry.ContainerName,
      entry.ResourceName,
      {
        ids: new Set(Object.values(entry.DeviceIDs).flat()),
        byNode: new Map(Object.entries(entry.DeviceIDs).map(([node, ids]) => [Number(node), ids])),
        response: fromBinary(ContainerAllocateResponseSchema, Buffer.from(entry.AllocResp, 'base64')),
      },
    ]),
    resources: Object.keys(Data.RegisteredDevices),
  };
}

const sizeOf = (data: CheckpointData): number => Buffer.byteLength(JSON.stringify(data));

/** Of the data as Go's spew package prints it. */
function sumOf({ PodDeviceEntries, RegisteredDevices }: CheckpointData): number {
  const entries = PodDeviceEntries === null ? '<nil>' : list(PodDeviceEntries.map(printedEntry));
  const devices = ofMap(RegisteredDevices, list);
  const fields = `PodDeviceEntries:([]checkpoint.PodDevicesEntry)${entries} RegisteredDevices:(map[string][]string)${devices}`;
  return printedSum(`(checkpoint.checkpointData){${fields}}`);
}

function printedEntry({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: CheckpointEntry): string {
  // Numbers by their size, other than the keys of a map of texts.
  const nodes = Object.entries(DeviceIDs)
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([node, ids]) => `${node}:${list(ids)}`);
  const names = `PodUID:(string)${PodUID} ContainerName:(string)${ContainerName} ResourceName:(string)${ResourceName}`;
  const bytes = [...Buffer.from(AllocResp, 'base64')].map(String);
  return `{${names} DeviceIDs:(checkpoint.DevicesPerNUMA)map${list(nodes)} AllocResp:([]uint8)${list(bytes)}}`;
}

const list = (parts: readonly string[]): string => `[${parts.join(' ')}]`;

function entryOf(json: unknown): CheckpointEntry {
  if (!isJsonObject(json)) throw new Error('an entry of PodDeviceEntries has to be an object');
  const { DeviceIDs } = json;
  const text = (name: 'PodUID' | 'ContainerName' | 'ResourceName' | 'AllocResp'): string => {
    const value = json[name];
    if (typeof value !== 'string') throw new Error(`${name} has to be a text`);
    return value;
  };
  const nodes = listsOf(DeviceIDs);
  if (!Object.keys(nodes).every((node) => /^(-1|\d{1,9})$/.test(node))) throw new Error('DeviceIDs has to be by NUMA node');
  return {
    PodUID: text('PodUID'),
    ContainerName: text('ContainerName'),
    ResourceName: text('ResourceName'),
    DeviceIDs: nodes,
    AllocResp: text('AllocResp'),
  };
}

function listsOf(json: unknown): Readonly<Record<string, readonly string[]>> {
  if (!isJsonObject(json)) throw new Error('lists of devices have to be in an object');
  return Object.fromEntries(Object.entries(json).map(([name, ids]) => [name, arrayOf(ids).map(textOf)]));
}

function arrayOf(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw new Error('a list was expected');
  return json;
}

function textOf(json: unknown): string {
  if (typeof json !== 'string') throw new Error('ids of devices have to be texts');
  return json;
}
