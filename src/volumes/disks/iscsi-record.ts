import { isJsonObject } from '../../base/json-object.ts';
import { diskOfPlace, type IscsiDisk, portalOf } from './iscsi-disk.ts';
import type { IscsiEnd } from './iscsi-initiator.ts';

const MOST_PORTALS = 32;

/** What is to be known of a disk when it goes: iscsi.json, in the kubelet's own words (pkg/volume/iscsi iscsiDisk). Nothing secret. */
export const iscsiRecord = ({ name, portals, iqn, lun, iface, initiatorName }: IscsiDisk): string =>
  JSON.stringify({ VolName: name, Portals: portals, Iqn: iqn, Lun: `${lun}`, Iface: iface, InitiatorName: initiatorName ?? '' });

/** The disk of a place, with what its record adds. A record that says something else of it than the place counts for nothing. */
export function recordedDisk(place: string, record: string | undefined): IscsiEnd['disk'] | undefined {
  const disk = diskOfPlace(place);
  if (disk === undefined || record === undefined) return disk;
  const json = parsed(record);
  if (!isJsonObject(json) || json['Iqn'] !== disk.iqn) return disk;
  const { Portals: portals, InitiatorName: initiatorName, VolName: name } = json;
  const others = Array.isArray(portals) ? portals.slice(0, MOST_PORTALS).flatMap(portalOrNone) : [];
  const all = new Set(others);
  all.delete(disk.portals[0]);
  return {
    ...disk,
    portals: [disk.portals[0], ...all],
    ...(typeof initiatorName === 'string' && typeof name === 'string' && { initiatorName, name }),
  };
}

function portalOrNone(text: unknown): readonly string[] {
  try {
    return typeof text === 'string' ? [portalOf(text)] : [];
  } catch {
    return [];
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
