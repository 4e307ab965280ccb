import type { V1ISCSIPersistentVolumeSource, V1ISCSIVolumeSource } from '@kubernetes/client-node';
import { isIPv4, isIPv6 } from 'node:net';
import type { Wire } from '../../model/wire.ts';
import { VolumeRefusedError } from '../volume-kind.ts';
import { isByPath } from './fc-disk.ts';

/** A logical unit of an iSCSI target, and how this node is to reach it. Nothing in it is an option of a program or leads out of a directory. */
export interface IscsiDisk {
  /** "10.0.0.1:3260", "[fd00::1]:3260"; each once, that of the volume's name first. */
  readonly portals: readonly [string, ...string[]];
  readonly iqn: string;
  readonly lun: number;
  /** The interface that the session has: of the node's own, or a copy of it with `initiatorName`. */
  readonly iface: string;
  /** The node's own; the copy is made of it. */
  readonly baseIface: string;
  readonly initiatorName: string | undefined;
  /** The volume's, as the record of the disk names it. */
  readonly name: string;
}

const DEFAULT_PORT = 3260;
const MOST_PORTALS = 32;
const LONGEST_NAME = 223;
/** Of a part of a path. */
const LONGEST_PART = 255;

const IQN = /^iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+(?::[^,;*&$|/\s]+)?$/;
const OTHER_NAME = /^(?:eui\.[0-9A-Za-z]{16}|naa\.[0-9A-Za-z]{16}(?:[0-9A-Za-z]{16})?)$/;
const IFACE = /^[A-Za-z0-9][\w.:@-]{0,63}$/;
const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

/** What a volume's source says of a disk. Throws VolumeRefusedError for what cannot be one (pkg/apis/core/validation validateISCSIVolumeSource). */
export function iscsiDisk(name: string, source: Wire<V1ISCSIVolumeSource> | Wire<V1ISCSIPersistentVolumeSource>): IscsiDisk {
  const { targetPortal, portals = [], iqn, lun, iscsiInterface: baseIface = 'default', initiatorName } = source;
  if (portals.length >= MOST_PORTALS) throw new VolumeRefusedError(`iscsi: ${portals.length + 1} portals are more than ${MOST_PORTALS}`);
  const first = portalOf(targetPortal);
  const others = new Set(portals.map(portalOf));
  others.delete(first);
  if (!isIscsiName(iqn)) throw refused('iqn', iqn);
  if (!Number.isInteger(lun) || lun < 0 || lun > 255) throw refused('lun', String(lun));
  if (!IFACE.test(baseIface)) throw refused('iscsiInterface', baseIface);
  if (initiatorName && !isIscsiName(initiatorName)) throw refused('initiatorName', initiatorName);
  // As the kubelet calls its copies (pkg/volume/iscsi AttachDisk).
  const iface = initiatorName ? `${first}:${name}` : baseIface;
  const disk = { portals: [first, ...others] as const, iqn, lun, iface, baseIface, initiatorName: initiatorName || undefined, name };
  for (const part of iscsiPlace(disk).split('/')) {
    if (Buffer.byteLength(part) > LONGEST_PART) throw new VolumeRefusedError(`iscsi: ${part.slice(0, 100)}… is too long for a directory`);
  }
  return disk;
}

/** Throws VolumeRefusedError where it is neither an address nor a name, with or without a port. */
export function portalOf(text: string): string {
  if (isIPv6(text) && !text.includes('%')) return `[${text}]:${DEFAULT_PORT}`;
  const [, bracketed, plain, port = `${DEFAULT_PORT}`] = /^(?:\[([^\]]*)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isPort = Number(port) > 0 && Number(port) < 65_536;
  if (isPort && bracketed !== undefined && isIPv6(bracketed) && !bracketed.includes('%')) return `[${bracketed}]:${Number(port)}`;
  if (isPort && plain !== undefined && (isIPv4(plain) || HOST.test(plain))) return `${plain}:${Number(port)}`;
  throw refused('portal', text);
}

/** Address and port, as the kernel and the records of iscsiadm have them: without brackets. */
export function endsOf(portal: string): { readonly address: string; readonly port: string } {
  const colon = portal.lastIndexOf(':');
  return { address: portal.slice(0, colon).replace(/^\[|\]$/g, ''), port: portal.slice(colon + 1) };
}

/** Where below plugins/kubernetes.io/iscsi, or its volumeDevices, the kubelet has the disk (makePDNameInternal). */
export const iscsiPlace = ({ iface, portals, iqn, lun }: Pick<IscsiDisk, 'iface' | 'portals' | 'iqn' | 'lun'>): string =>
  `iface-${iface}/${portals[0]}-${iqn}-lun-${lun}`;

/** The disk of such a place; undefined for what is none. */
export function diskOfPlace(place: string): Pick<IscsiDisk, 'iface' | 'portals' | 'iqn' | 'lun'> | undefined {
  const [, iface, portal, iqn, lun] = /^iface-([^/]+)\/([^/]*?)-((?:iqn|eui|naa)\.[^/]+)-lun-(\d{1,3})$/.exec(place) ?? [];
  if (iface === undefined || portal === undefined || iqn === undefined || !isIscsiName(iqn)) return undefined;
  try {
    return { iface, portals: [portalOf(portal)], iqn, lun: Number(lun) };
  } catch {
    return undefined;
  }
}

/** How node.status names it; where it is not known whether the pod gave the port, it may be any of them. */
export const iscsiUniqueName = (targetPortal: string, iqn: string, lun: number): string =>
  `kubernetes.io/iscsi/${targetPortal}:${iqn}:${lun}`;

/** Of a disk that is found: both names that its pod may have given it. */
export function iscsiUniqueNames({ portals: [portal], iqn, lun }: Pick<IscsiDisk, 'portals' | 'iqn' | 'lun'>): readonly string[] {
  const { address, port } = endsOf(portal);
  return [portal, ...(port === `${DEFAULT_PORT}` ? [address] : [])].map((each) => iscsiUniqueName(each, iqn, lun));
}

/** Whether /dev/disk/by-path calls the disk so, as one portal shows it; udev writes addresses without brackets. */
export function isPathOf(name: string, portal: string, { iqn, lun }: Pick<IscsiDisk, 'iqn' | 'lun'>): boolean {
  const { address, port } = endsOf(portal);
  return [address, `[${address}]`].some((each) => isByPath(name, `ip-${each}:${port}-iscsi-${iqn}-lun-${lun}`));
}

const isIscsiName = (name: string): boolean =>
  name.length <= LONGEST_NAME && (IQN.test(name) || OTHER_NAME.test(name)) && /^[\x21-\x7e]+$/.test(name);

const refused = (what: string, text: string): VolumeRefusedError =>
  new VolumeRefusedError(
    `iscsi: ${JSON.stringify(text.slice(0, 300))} cannot be ${what === 'iqn' || what === 'initiatorName' ? 'an' : 'a'} ${what}`,
  );
