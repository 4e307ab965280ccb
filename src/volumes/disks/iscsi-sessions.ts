import { join } from 'node:path';
import type { Machine } from './machine.ts';
import { endsOf } from './iscsi-disk.ts';

/** A session with a target, as the kernel has it. */
export interface IscsiSession {
  /** Of the SCSI host that it is: 3 of host3. */
  readonly host: number;
  readonly iface: string;
  /** "10.0.0.1 3260": the portal that it was made to, and the one that the target named. */
  readonly portals: readonly string[];
  /** By logical unit: "/dev/sdb". */
  readonly devices: readonly { readonly lun: number; readonly device: string }[];
}

/** As sessions name a portal. */
export function portalKey(portal: string): string {
  const { address, port } = endsOf(portal);
  return `${address} ${port}`;
}

/** The portal of such a key, as programs take it. */
export function portalOfKey(key: string): string {
  const [address = '', port = ''] = key.split(' ');
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** All sessions with a target: SYS/class/iscsi_host/hostH/device/sessionS. */
export async function sessionsWith(iqn: string, machine: Machine): Promise<readonly IscsiSession[]> {
  const { sys, dev } = machine.roots;
  const hosts = join(sys, 'class/iscsi_host');
  const found: IscsiSession[] = [];
  for (const name of await machine.names(hosts)) {
    const host = Number(/^host(\d+)$/.exec(name)?.[1] ?? NaN);
    const device = join(hosts, name, 'device');
    for (const session of (await machine.names(device)).filter((each) => /^session\d+$/.test(each))) {
      const own = join(device, session, 'iscsi_session', session);
      if (Number.isNaN(host) || (await machine.line(own, 'targetname')) !== iqn) continue;
      const iface = (await machine.line(own, 'ifacename')) ?? '';
      const inSession = await machine.names(device, session);
      const portals = new Set<string>();
      for (const connection of inSession.filter((each) => /^connection\d+:\d+$/.test(each))) {
        const facts = join(device, session, connection, 'iscsi_connection', connection);
        for (const kind of ['persistent_', '']) {
          const [address, port] = [await machine.line(facts, `${kind}address`), await machine.line(facts, `${kind}port`)];
          if (address && port) portals.add(`${address.replace(/^\[|\]$/g, '')} ${port}`);
        }
      }
      const devices: { readonly lun: number; readonly device: string }[] = [];
      for (const target of inSession.filter((each) => each.startsWith('target'))) {
        for (const unit of await machine.names(device, session, target)) {
          const lun = Number(/^\d+:\d+:\d+:(\d+)$/.exec(unit)?.[1] ?? NaN);
          const [block] = Number.isNaN(lun) ? [] : await machine.names(device, session, target, unit, 'block');
          if (block !== undefined) devices.push({ lun, device: join(dev, block) });
        }
      }
      found.push({ host, iface, portals: [...portals], devices });
    }
  }
  return found;
}
