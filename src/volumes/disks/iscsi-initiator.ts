import { deadline } from '../../base/deadline.ts';
import { errorText } from '../../base/error-text.ts';
import { SerialByKey } from '../../base/serial-by-key.ts';
import { MountStepError } from '../../model/mount-step-error.ts';
import { type ChapValues, setDiscoveryChap, setSessionChap } from './chap.ts';
import { type IscsiDisk, isPathOf } from './iscsi-disk.ts';
import { type IscsiSession, portalKey, portalOfKey, sessionsWith } from './iscsi-sessions.ts';
import type { Machine, ProgramEnd } from './machine.ts';
import { removeDevices } from './remove-devices.ts';

/** How a disk proves who it is asked by. */
export interface IscsiAuth {
  readonly discovery: boolean;
  readonly session: boolean;
  readonly secret: ChapValues;
}

/** What a disk that is no longer used leaves. */
export interface IscsiEnd {
  readonly disk: Pick<IscsiDisk, 'portals' | 'iqn' | 'lun' | 'iface'> & {
    readonly initiatorName?: string | undefined;
    readonly name?: string;
  };
  /** Whether another disk of the target is used by the same interface; asked when nobody logs in there. */
  readonly isShared: () => boolean;
}

/** iscsiadm waits for a portal that does not answer, again and again: all of them together are asked for so long, each of them at most, and at least. */
const DISCOVERIES_MS = 50_000;
const LONGEST_DISCOVERY_MS = 25_000;
const SHORTEST_DISCOVERY_MS = 5_000;
const LOGIN_MS = 40_000;
/** What is about records alone. */
const RECORD_MS = 10_000;
const DEVICE_MS = 10_000;
/** All of it: a pod's step may take 5 minutes, and another disk of the target may wait. */
const ATTACH_MS = 110_000;
const LOOK_AGAIN_MS = 250;
/** As often is a portal tried (pkg/volume/iscsi maxAttachAttempts, minAttachAttempts), and so many do (minMultipathCount). */
const MOST_ATTEMPTS = 5;
const ENOUGH_ATTEMPTS = 2;
const ENOUGH_PATHS = 2;
/** With one path a pod can begin: the others have been waited for. */
const ENOUGH_MS = 50_000;

/** Exit codes of iscsiadm(8): there is such a session already; there is nothing that fits. */
const SESSION_EXISTS = 15;
const NOTHING_FOUND = 21;

/** The node's iSCSI initiator, by iscsiadm (pkg/volume/iscsi AttachDisk, DetachDisk). What is about one target is done one after the other. */
export class IscsiInitiator {
  readonly #machine: Machine;
  /** By the target's name. */
  readonly #serial = new SerialByKey<string>();

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Resolves with the disk's device, which has several paths where the machine makes one of them. Rejects with MountStepError. */
  async attach(disk: IscsiDisk, auth: IscsiAuth, signal: AbortSignal): Promise<string> {
    using within = deadline(this.#machine.clock, ATTACH_MS, `attaching ${disk.iqn}`, signal);
    try {
      return await this.#serial.runWithin(disk.iqn, within.signal, () => this.#attach(disk, auth, within.signal));
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof MountStepError ? error : new MountStepError('WaitForAttach', errorText(error), error);
    }
  }

  /** Takes the disk's devices from the node, and ends the sessions with its target unless another disk needs them. Succeeds where nothing is left. */
  detach(end: IscsiEnd, signal: AbortSignal): Promise<void> {
    return this.#serial.runWithin(end.disk.iqn, signal, () => this.#detach(end, signal));
  }

  async #attach(disk: IscsiDisk, auth: IscsiAuth, signal: AbortSignal): Promise<string> {
    await this.#prepareInterface(disk, signal);
    const devices = new Map<string, string>();
    let fault: unknown;
    const { clock } = this.#machine;
    const untilMs = clock.monotonicMs() + ENOUGH_MS;
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
      for (const portal of disk.portals) {
        if (devices.has(portal) || (devices.size > 0 && clock.monotonicMs() >= untilMs)) continue;
        try {
          devices.set(portal, await this.#path(disk, portal, auth, signal));
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof MountStepError) throw error;
          fault = error;
        }
      }
      if (devices.size === 0 || devices.size === disk.portals.length) break;
      if (devices.size >= ENOUGH_PATHS && attempt >= ENOUGH_ATTEMPTS) break;
    }
    const [first] = devices.values();
    if (first === undefined) throw new Error(`failed to get any path for iscsi disk, last err seen: ${errorText(fault)}`);
    return this.#wholeDevice([...devices.values()], disk.portals.length > 1, signal);
  }

  async #detach({ disk, isShared }: IscsiEnd, signal: AbortSignal): Promise<void> {
    const { iqn, iface, lun, portals } = disk;
    const sessions = (await sessionsWith(iqn, this.#machine)).filter((each) => each.iface === iface || each.iface === '');
    const devices = sessions.flatMap((each) => each.devices);
    await removeDevices(
      devices.filter((each) => each.lun === lun).map((each) => each.device),
      this.#machine,
      signal,
    );
    if (isShared()) return;
    // Somebody else's, as the machine's own.
    for (const { lun: other, device } of devices) if (other !== lun && (await this.#machine.isUsed(device))) return;
    try {
      for (const key of new Set([...portals.map(portalKey), ...sessions.flatMap((each) => each.portals)])) {
        const node = ['-m', 'node', '-p', portalOfKey(key), '-T', iqn, '-I', iface];
        done(await this.#admin([...node, '--logout'], iqn, LOGIN_MS, signal), 'failed to log out', NOTHING_FOUND);
        done(await this.#admin([...node, '-o', 'delete'], iqn, RECORD_MS, signal), 'failed to delete the record', NOTHING_FOUND);
      }
      // A copy of the agent's, or a kubelet's.
      if (disk.initiatorName && iface === `${portals[0]}:${disk.name}`)
        await this.#admin(['-m', 'iface', '-I', iface, '-o', 'delete'], iface, RECORD_MS, signal);
    } catch (error) {
      // A machine without iscsiadm has no sessions either.
      if (!(error instanceof MountStepError) || sessions.length > 0) throw error;
    }
  }

  /** One path to the disk: logs in where nobody has, and has the kernel look for the disk. */
  async #path(disk: IscsiDisk, portal: string, auth: IscsiAuth, signal: AbortSignal): Promise<string> {
    let session = await this.#session(disk, portal);
    if (session === undefined) {
      await this.#login(disk, portal, auth, signal);
      session = await this.#session(disk, portal);
    }
    const { clock, roots } = this.#machine;
    // Not all of them: those that this node is not to know would have no one who looks after them.
    if (session !== undefined) await this.#machine.tell(`${roots.sys}/class/scsi_host/host${session.host}/scan`, `0 0 ${disk.lun}`, signal);
    for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
      const [device] = await this.#machine.linked('by-path', (name) => isPathOf(name, portal, disk));
      if (device !== undefined) return device;
      if (waitedMs >= DEVICE_MS) throw new Error(`Could not attach disk: Timeout after ${DEVICE_MS / 1000}s`);
      await clock.sleep(LOOK_AGAIN_MS, signal);
    }
  }

  async #session({ iqn, iface }: IscsiDisk, portal: string): Promise<IscsiSession | undefined> {
    const key = portalKey(portal);
    return (await sessionsWith(iqn, this.#machine)).find((each) => each.iface === iface && each.portals.includes(key));
  }

  async #login(disk: IscsiDisk, portal: string, auth: IscsiAuth, signal: AbortSignal): Promise<void> {
    const { iqn, iface } = disk;
    const { iscsiRecords } = this.#machine.roots;
    const discovery = ['-m', 'discoverydb', '-t', 'sendtargets', '-p', portal, '-I', iface];
    const node = ['-m', 'node', '-p', portal, '-T', iqn, '-I', iface];
    await this.#admin([...discovery, '-o', 'new'], portal, RECORD_MS, signal);
    if (auth.discovery) await setDiscoveryChap(iscsiRecords, portal, auth.secret);
    const share = Math.max(SHORTEST_DISCOVERY_MS, DISCOVERIES_MS / disk.portals.length);
    const found = await this.#admin([...discovery, '--discover'], portal, Math.min(share, LONGEST_DISCOVERY_MS), signal);
    if (found.code !== 0) {
      await this.#admin([...discovery, '-o', 'delete'], portal, RECORD_MS, signal);
      throw new Error(`iscsi: failed to sendtargets to portal ${portal} output: ${found.said}, err exit status ${found.code}`);
    }
    if (auth.session) await setSessionChap(iscsiRecords, { iqn, portal, iface }, auth.secret);
    const login = await this.#admin([...node, '--login'], iqn, LOGIN_MS, signal);
    if (login.code !== 0 && login.code !== SESSION_EXISTS) {
      await this.#admin([...node, '-o', 'delete'], iqn, RECORD_MS, signal);
      throw new Error(`iscsi: failed to attach disk: Error: ${login.said} (exit status ${login.code})`);
    }
    // It must not be waited for when the machine starts.
    await this.#admin(
      ['-m', 'node', '-p', portal, '-T', iqn, '-o', 'update', '-n', 'node.startup', '-v', 'manual'],
      iqn,
      RECORD_MS,
      signal,
    );
  }

  /** Rejects where the node has no such interface; a copy with the volume's own initiator name is made of it. */
  async #prepareInterface({ baseIface, iface, initiatorName }: IscsiDisk, signal: AbortSignal): Promise<void> {
    const show = (name: string): Promise<ProgramEnd> => this.#admin(['-m', 'iface', '-I', name, '-o', 'show'], name, RECORD_MS, signal);
    const base = await show(baseIface);
    done(base, `could not read iface ${baseIface} error`);
    if (initiatorName === undefined) return;
    const wanted = new Map([...valuesOf(base.stdout), ['iface.initiatorname', initiatorName]]);
    const before = await show(iface);
    const has = before.code === 0 ? valuesOf(before.stdout) : undefined;
    if (has !== undefined && [...wanted].every(([key, value]) => has.get(key) === value)) return;
    if (has === undefined)
      done(await this.#admin(['-m', 'iface', '-I', iface, '-o', 'new'], iface, RECORD_MS, signal), 'failed to create new iface');
    for (const [key, value] of wanted) {
      if (has?.get(key) === value) continue;
      const updated = await this.#admin(['-m', 'iface', '-I', iface, '-o', 'update', '-n', key, '-v', value], iface, RECORD_MS, signal);
      done(updated, 'failed to update iface records');
    }
  }

  /** Waits for the device of several paths where some are wanted; without one it is the first path's. */
  async #wholeDevice(devices: readonly string[], isMultipath: boolean, signal: AbortSignal): Promise<string> {
    for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
      for (const device of devices) {
        const whole = await this.#machine.multipathOf(device);
        if (whole !== undefined) return whole;
      }
      if (!isMultipath || waitedMs >= DEVICE_MS) return devices[0] ?? '';
      await this.#machine.clock.sleep(LOOK_AGAIN_MS, signal);
    }
  }

  #admin(argv: readonly string[], subject: string, deadlineMs: number, signal: AbortSignal): Promise<ProgramEnd> {
    return this.#machine.run('iscsiadm', argv, { deadlineMs, subject, signal });
  }
}

function done({ code, said }: ProgramEnd, what: string, ...alsoFine: readonly number[]): void {
  if (code !== 0 && !alsoFine.includes(code)) throw new Error(`iscsi: ${what}: ${said} (exit status ${code})`);
}

/** What an interface of iscsiadm says, without what it does not say and its own name (parseIscsiadmShow). */
function valuesOf(shown: string): ReadonlyMap<string, string> {
  const lines = shown.split('\n').map((line) => /^(iface\.\S+) = (\S+)$/.exec(line.trim()) ?? []);
  return new Map(
    lines.flatMap(([, key, value]) =>
      key === undefined || value === undefined || value === '<empty>' || key === 'iface.iscsi_ifacename' ? [] : [[key, value]],
    ),
  );
}
