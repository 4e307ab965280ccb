import type { V1FCVolumeSource } from '@kubernetes/client-node';
import type { Wire } from '../../model/wire.ts';
import { VolumeRefusedError } from '../volume-kind.ts';

/** A logical unit of Fibre Channel targets, or a disk by its own names. */
export type FcDisk = { readonly wwns: readonly string[]; readonly lun: number } | { readonly wwids: readonly string[] };

const MOST_NAMES = 32;
const WWN = /^[0-9A-Za-z]{1,64}$/;
const WWID = /^[\x20-\x2e\x30-\x7e]{1,128}$/;
const LONGEST_PART = 255;

/** Throws VolumeRefusedError for what cannot be a disk. */
export function fcDisk({ targetWWNs: wwns = [], wwids = [], lun }: Wire<V1FCVolumeSource>): FcDisk {
  if (wwns.length > MOST_NAMES || wwids.length > MOST_NAMES) throw new VolumeRefusedError(`fc: more than ${MOST_NAMES} names of a disk`);
  const hasTargets = wwns.length > 0 && lun !== undefined;
  if (!hasTargets && wwids.length === 0) throw new VolumeRefusedError('fc: no fc disk information found. failed to make a new mounter');
  if (hasTargets) {
    if (!Number.isInteger(lun) || lun < 0 || lun > 255) throw refused(String(lun), 'a lun');
    for (const each of wwns) if (!WWN.test(each)) throw refused(each, 'a WWN');
    return placed({ wwns, lun });
  }
  for (const each of wwids) if (!WWID.test(each)) throw refused(each, 'a WWID');
  // As udev writes it.
  return placed({ wwids: wwids.map((each) => each.replaceAll(' ', '_')) });
}

/** Where below plugins/kubernetes.io/fc, or its volumeDevices, the kubelet has the disk (makePDNameInternal). */
export const fcPlace = (disk: FcDisk): string => ('wwns' in disk ? `${disk.wwns.join('-')}-lun-${disk.lun}` : disk.wwids.join('-'));

/** The disk of such a place. The kubelet puts a dash between names; those that have one themselves cannot be told from several and are taken as one. */
export function fcDiskOfPlace(place: string): FcDisk {
  const [, wwns, lun] = /^(.+)-lun-(\d{1,3})$/.exec(place) ?? [];
  if (wwns !== undefined) return { wwns: wwns.split('-'), lun: Number(lun) };
  return { wwids: /^[0-9a-f]{16,}(?:-[0-9a-f]{16,})+$/i.test(place) ? place.split('-') : [place] };
}

/** How node.status names it. */
export const fcUniqueName = (disk: FcDisk): string =>
  `kubernetes.io/fc/${'wwns' in disk ? `[${disk.wwns.join(' ')}]:${disk.lun}` : `[${disk.wwids.join(' ')}]`}`;

/** What /dev/disk/by-path, or by-id, calls the disk. */
export function fcLinks(disk: FcDisk): { readonly directory: 'by-path' | 'by-id'; readonly isName: (name: string) => boolean } {
  if ('wwids' in disk) return { directory: 'by-id', isName: (name) => disk.wwids.some((wwid) => name === `scsi-${wwid}`) };
  const ends = disk.wwns.map((wwn) => `fc-0x${wwn}-lun-${disk.lun}`.toLowerCase());
  return { directory: 'by-path', isName: (name) => ends.some((end) => isByPath(name.toLowerCase(), end)) };
}

/** Whether it is what udev calls a device, which may be behind an adapter. */
export const isByPath = (name: string, device: string): boolean =>
  name === device || (name.startsWith('pci-') && name.endsWith(`-${device}`));

function placed(disk: FcDisk): FcDisk {
  const place = fcPlace(disk);
  // The directory of devices is beside those of disks.
  if (['.', '..', 'volumeDevices'].includes(place)) throw refused(place, 'the name of a disk');
  if (place.length > LONGEST_PART) throw new VolumeRefusedError(`fc: ${place.slice(0, 100)}… is too long for a directory`);
  return disk;
}

const refused = (text: string, what: string): VolumeRefusedError =>
  new VolumeRefusedError(`fc: ${JSON.stringify(text.slice(0, 300))} cannot be ${what}`);
