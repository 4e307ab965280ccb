import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissingFile } from '../base/error-code.ts';
import { isJsonObject } from '../base/json-object.ts';
import { readRegularFile } from '../base/read-regular-file.ts';
import { UNFINISHED, writePrivateFile } from '../base/write-private-file.ts';

/** What is to be known of a volume after the agent has gone: vol_data.json, in the kubelet's own words (pkg/volume/csi volDataKey). */
export interface VolumeData {
  readonly driverName: string;
  readonly volumeHandle: string;
  /** Of a pod's volume. */
  readonly specVolID?: string;
  readonly nodeName?: string;
  readonly attachmentID?: string;
  readonly volumeLifecycleMode?: 'Persistent' | 'Ephemeral';
  /** That of SELinux that it is mounted with. */
  readonly selinuxMountContext?: string;
  /** Ours: all that is to be done when a volume is made has been done. Without it, it is done again. */
  readonly complete?: 'true';
}

const FILE = 'vol_data.json';
const MAX_BYTES = 64 * 1024;

/** On the disk when it resolves. */
export async function writeVolumeData(directory: string, data: VolumeData): Promise<void> {
  await writePrivateFile(join(directory, FILE), JSON.stringify(data));
}

/** Undefined where there is none. Rejects, with the file's name, where it cannot be read or says nothing of a volume. */
export async function readVolumeData(directory: string): Promise<VolumeData | undefined> {
  const path = join(directory, FILE);
  let json: unknown;
  try {
    json = JSON.parse(await readRegularFile(path, MAX_BYTES));
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw new Error(`${path} cannot be read`, { cause: error });
  }
  if (!isJsonObject(json)) throw new Error(`${path} has no object`);
  const { driverName, volumeHandle, ...more } = json;
  if (typeof driverName !== 'string' || driverName === '' || typeof volumeHandle !== 'string' || volumeHandle === '') {
    throw new Error(`${path} names no driver and volume`);
  }
  const text = (key: string): string | undefined => (typeof more[key] === 'string' ? more[key] : undefined);
  const [specVolID, nodeName, attachmentID, mode] = ['specVolID', 'nodeName', 'attachmentID', 'volumeLifecycleMode'].map(text);
  const selinuxMountContext = text('selinuxMountContext');
  return {
    driverName,
    volumeHandle,
    ...(specVolID !== undefined && { specVolID }),
    ...(nodeName !== undefined && { nodeName }),
    ...(attachmentID !== undefined && { attachmentID }),
    ...((mode === 'Persistent' || mode === 'Ephemeral') && { volumeLifecycleMode: mode }),
    ...(selinuxMountContext !== undefined && { selinuxMountContext }),
    ...(more['complete'] === 'true' && { complete: 'true' }),
  };
}

export async function removeVolumeData(directory: string): Promise<void> {
  await rm(join(directory, FILE + UNFINISHED), { force: true });
  await rm(join(directory, FILE), { force: true });
}
