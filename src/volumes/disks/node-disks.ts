import { rm, rmdir, symlink, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, isMissingFile } from '../../base/error-code.ts';
import { errorText } from '../../base/error-text.ts';
import { namesIn } from '../../base/names-in.ts';
import { readRegularFile } from '../../base/read-regular-file.ts';
import { SerialByKey } from '../../base/serial-by-key.ts';
import { UNFINISHED, writePrivateFile } from '../../base/write-private-file.ts';
import { MountStepError } from '../../model/mount-step-error.ts';
import type { PodUid } from '../../model/pod.ts';
import { type StorageTeller, toldStorage } from '../../ports/storage-operation.ts';
import type { Attachments } from '../attachments.ts';
import type { Mounts } from '../mounts.ts';
import { makeMountPoint } from '../volume-directory.ts';
import { type DiskOrder, type DiskPlugin, diskPlugins, type NodeDisksOfPods } from './disk-order.ts';
import type { DiskPaths, DiskPlace } from './disk-paths.ts';
import { fileSystemOn } from './file-system.ts';
import { growFileSystem } from './grow-file-system.ts';
import type { Machine } from './machine.ts';

/** A disk that no pod has any more. */
export interface DiskEnd {
  readonly place: string;
  readonly record: string | undefined;
  /** Whether it is known that a pod has had it: a pod may name any disk of the machine. */
  readonly wasUsed: boolean;
  /** The places of all other disks of the kind that the node has, now. */
  readonly others: () => readonly string[];
}

/** How disks of a kind go. */
export interface DiskEnds {
  /** Names of node.status for a disk of that place; undefined: it is none. */
  namesOf(place: string): readonly string[] | undefined;
  /** Whether a pod has it that does not show what is mounted for the node. */
  isUsed?(place: string): Promise<boolean>;
  /** Whether what is mounted for the node counts as used while it is shown there, too. Without it all that shows it counts. */
  isUse?(place: string, path: string): boolean;
  /** Takes away what is mounted for the node, in place of the agent, or leaves it to the agent. */
  unmount?(place: string, directory: string, signal: AbortSignal): Promise<void>;
  detach(end: DiskEnd, signal: AbortSignal): Promise<void>;
}

export interface NodeDisksDeps extends StorageTeller {
  readonly paths: DiskPaths;
  readonly mounts: Mounts;
  readonly machine: Machine;
  readonly attachments: Pick<Attachments, 'use' | 'unuse' | 'attached' | 'byController'>;
  readonly ends: Readonly<Record<DiskPlugin, DiskEnds>>;
  /** No pod may have the disk any more. */
  readonly idle: () => void;
  /** Comes before each effect: a test ends the process there. */
  readonly before?: (effect: string) => Promise<void>;
}

interface KnownDisk extends DiskPlace {
  /** Pods that have it, or are about to: of this process. */
  readonly users: Set<PodUid>;
  /** It is being detached: it is no reason to keep what it shares with others. */
  isLeaving: boolean;
  /** A pod has had it. */
  wasUsed: boolean;
}

const MAX_RECORD = 64 * 1024;

/**
 * Disks that the node attaches for pods. The directory of a disk is made before anything is attached, and goes last: an agent that starts finds by it
 * what may be attached. Which pods have it, the mount table says.
 */
export class NodeDisks implements NodeDisksOfPods {
  readonly #deps: NodeDisksDeps;
  /** By directory. */
  readonly #known = new Map<string, KnownDisk>();
  readonly #serial = new SerialByKey<string>();
  readonly #byDevice = new SerialByKey<string>();

  constructor(deps: NodeDisksDeps) {
    this.#deps = deps;
  }

  /** Finds what is there of a process before this one. */
  async read(): Promise<void> {
    const { paths, ends, attachments } = this.#deps;
    for (const plugin of diskPlugins) {
      for (const place of await paths.found(plugin)) {
        const names = ends[plugin].namesOf(place.place);
        if (names === undefined) continue;
        this.#known.set(place.directory, { ...place, users: new Set(), isLeaving: false, wasUsed: false });
        attachments.use(place.directory, names);
      }
    }
  }

  async publish(order: DiskOrder, signal: AbortSignal): Promise<string> {
    const { paths, attachments } = this.#deps;
    const place = paths.placeOf(order);
    const disk = this.#known.get(place.directory) ?? { ...place, users: new Set(), isLeaving: false, wasUsed: false };
    // From here on it is neither detached nor somebody else's.
    this.#known.set(disk.directory, disk);
    disk.users.add(order.uid);
    const { uniqueName } = order;
    attachments.use(disk.directory, uniqueName === undefined ? [] : [uniqueName]);
    const attached = async (): Promise<string | undefined> =>
      uniqueName !== undefined && attachments.byController ? attachments.attached(uniqueName, signal) : undefined;
    const given = (await this.#isThere(disk, order.uid)) ? undefined : await attached();
    return this.#serial.runWithin(disk.directory, signal, async () => {
      await this.#checkSame(disk, order);
      if (await this.#isThere(disk, order.uid)) {
        await this.#checkDevice(disk, order);
        return disk.isBlock ? join(disk.directory, order.uid) : disk.directory;
      }
      disk.isLeaving = false;
      // It was there, and has been taken away meanwhile: who attaches it is still the controller.
      const device = given ?? (await attached());
      return disk.isBlock ? this.#publishDevice(disk, order, device, signal) : this.#publishMount(disk, order, device, signal);
    });
  }

  grow(disk: Pick<DiskOrder, 'plugin' | 'place'>, signal: AbortSignal): Promise<void> {
    const { mounts, machine, paths } = this.#deps;
    const place = paths.placeOf({ ...disk, isBlock: false });
    const { directory } = place;
    return this.#serial.runWithin(directory, signal, async () => {
      const mounted = await mounts.mountedAt(directory);
      if (mounted === undefined) throw new Error(`nothing is mounted at ${directory}`);
      const what = { operation: 'volume_fs_resize', plugin: pluginOf(place) } as const;
      await toldStorage(this.#deps, [what], signal, () => growFileSystem(mounted, directory, machine, signal));
    });
  }

  async unpublish(uid: PodUid, signal: AbortSignal): Promise<void> {
    const { mounts, paths, idle } = this.#deps;
    for (const disk of this.#known.values()) {
      if (disk.isBlock && (await namesIn(disk.directory)).includes(uid)) {
        const device = join(disk.directory, uid);
        if (await mounts.isMounted(device)) disk.wasUsed = true;
        await this.#before('unmounting the device');
        await mounts.release(device, signal);
        await this.#before('removal of the device');
        await unlink(device).catch(unlessGone);
      }
      disk.users.delete(uid);
    }
    for (const plugin of diskPlugins) {
      const links = paths.linksOf(plugin, uid);
      for (const name of await namesIn(links)) await unlink(join(links, name)).catch(unlessGone);
      await rmdir(links).catch(unlessGone);
      // Devices of another kind may be there.
      await rmdir(dirname(links)).catch(unlessFilled);
    }
    idle();
  }

  async remain(uid: PodUid): Promise<boolean> {
    for (const disk of this.#known.values()) {
      if (disk.users.has(uid) || (disk.isBlock && (await namesIn(disk.directory)).includes(uid))) return true;
    }
    for (const plugin of diskPlugins) if ((await namesIn(this.#deps.paths.linksOf(plugin, uid))).length > 0) return true;
    return false;
  }

  /** The directories of disks that no pod of this process has. */
  idle(): readonly string[] {
    return [...this.#known.values()].filter(({ users }) => users.size === 0).map(({ directory }) => directory);
  }

  /** Detaches a disk that no pod has. Resolves with whether it is gone: it is not where a pod has it, or something of a pod is still there. */
  detach(directory: string, signal: AbortSignal): Promise<boolean> {
    return this.#serial.runWithin(directory, signal, async () => {
      const disk = this.#known.get(directory);
      if (disk === undefined) return true;
      if (await this.#isUsed(disk)) return false;
      const operation = disk.isBlock ? 'unmap_device' : 'unmount_device';
      await toldStorage(this.#deps, [{ operation, plugin: pluginOf(disk) }], signal, () => this.#detach(disk, signal));
      return true;
    });
  }

  async #detach(disk: KnownDisk, signal: AbortSignal): Promise<void> {
    const { mounts, ends, attachments, paths } = this.#deps;
    const { directory } = disk;
    if (!disk.isBlock) {
      await this.#before('unmounting');
      if (await mounts.isMounted(directory)) {
        disk.wasUsed = true;
        await ends[disk.plugin].unmount?.(disk.place, directory, signal);
      }
      await mounts.release(directory, signal);
    }
    const record = await this.#recordOf(disk);
    const others = (): readonly string[] =>
      [...this.#known.values()]
        .filter((each) => each !== disk && each.plugin === disk.plugin && (!each.isLeaving || each.users.size > 0))
        .map(({ place }) => place);
    disk.isLeaving = true;
    await this.#before('detaching');
    await ends[disk.plugin].detach({ place: disk.place, record, wasUsed: disk.wasUsed, others }, signal);
    await this.#before('removal of the record');
    const file = paths.recordOf(disk);
    // Beside the directory it says that there is one, and goes last.
    if (dirname(file) !== directory) await rmdir(directory).catch(unlessGone);
    for (const each of [file + UNFINISHED, file]) await rm(each, { force: true });
    await this.#before('removal of the directory');
    await rmdir(directory).catch(unlessGone);
    // What is above is the disk's own, too.
    if (disk.place.includes('/')) await rmdir(dirname(directory)).catch(unlessFilled);
    // A pod may be waiting for it.
    if (disk.users.size === 0) {
      this.#known.delete(directory);
      attachments.unuse(directory);
    }
  }

  async #publishMount(disk: KnownDisk, order: DiskOrder, given: string | undefined, signal: AbortSignal): Promise<string> {
    const { mounts, machine } = this.#deps;
    const { directory } = disk;
    await this.#record(disk, order);
    await this.#before('attaching');
    const device = await order.attach(signal, given);
    if (await order.mountDevice?.(directory, device, signal)) return directory;
    // Two volumes may be of one device: one file system is made there.
    return this.#byDevice.runWithin(device, signal, async () => {
      await this.#before('looking for a file system');
      const type = await fileSystemOn(device, order, machine, signal);
      await this.#before('mounting');
      const options = [...order.mountOptions, ...(order.readOnly ? ['ro'] : [])];
      await mounts.mount(directory, { type, source: device, options }, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new MountStepError('MountDevice', errorText(error), error);
      });
      await this.#before('mounted');
      return directory;
    });
  }

  async #publishDevice(disk: KnownDisk, order: DiskOrder, given: string | undefined, signal: AbortSignal): Promise<string> {
    const { mounts, paths } = this.#deps;
    const { directory } = disk;
    const own = join(directory, order.uid);
    const links = paths.linksOf(order.plugin, order.uid);
    await this.#record(disk, order);
    await this.#before('attaching');
    const device = await order.attach(signal, given);
    await this.#before('link to the device');
    await makeMountPoint(links);
    await symlink(own, join(links, order.name)).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    await this.#before('file of the device');
    await writeFile(own, '', { flag: 'a', mode: 0o600 });
    await this.#before('mounting the device');
    await mounts.bind(device, own);
    await this.#before('mounted');
    return own;
  }

  async #record(disk: KnownDisk, { record }: DiskOrder): Promise<void> {
    await this.#before('record');
    const file = this.#deps.paths.recordOf(disk);
    const isBeside = dirname(file) !== disk.directory;
    if (record !== undefined && isBeside) await writePrivateFile(file, record);
    await makeMountPoint(disk.directory);
    if (record !== undefined && !isBeside) await writePrivateFile(file, record);
  }

  async #recordOf(disk: KnownDisk): Promise<string | undefined> {
    return readRegularFile(this.#deps.paths.recordOf(disk), MAX_RECORD).catch(() => undefined);
  }

  /** A driver's volume is known by what a pod calls it: one of another pod may have the same name, and is not shown to this one. */
  async #checkSame(disk: KnownDisk, order: DiskOrder): Promise<void> {
    if (disk.plugin !== 'flexvolume') return;
    const record = await this.#recordOf(disk);
    if (record === undefined || record === order.record) return;
    this.#refuse(disk, order, `another volume that is called ${order.name} is still mounted by the same driver`);
  }

  /** A volume may have been of another device, which is still mounted. A pod that has that keeps it. */
  async #checkDevice(disk: KnownDisk, order: DiskOrder): Promise<void> {
    const { mounts } = this.#deps;
    const { isBlock, directory } = disk;
    if (isBlock || order.otherThan === undefined) return;
    const mounted = await mounts.mountedAt(directory);
    const fault = mounted && (await order.otherThan(mounted));
    if (fault === undefined || (await mounts.showing(directory)).some((path) => path.includes(`/pods/${order.uid}/`))) return;
    this.#refuse(disk, order, fault);
  }

  /** The pod does not have what is there, which may go. */
  #refuse(disk: KnownDisk, { uid }: DiskOrder, message: string): never {
    disk.users.delete(uid);
    this.#deps.idle();
    throw new MountStepError('MountDevice', message);
  }

  #isThere({ isBlock, directory }: KnownDisk, uid: PodUid): Promise<boolean> {
    return this.#deps.mounts.isMounted(isBlock ? join(directory, uid) : directory);
  }

  /** What a pod of a process before this one has counts, too. */
  async #isUsed(disk: KnownDisk): Promise<boolean> {
    const { mounts, ends, paths } = this.#deps;
    const { users, isBlock, directory, plugin, place } = disk;
    if (users.size > 0 || (await ends[plugin].isUsed?.(place))) return true;
    const record = basename(paths.recordOf(disk));
    if (isBlock) return (await namesIn(directory)).some((name) => name !== record && name !== record + UNFINISHED);
    return (await mounts.showing(directory)).some((path) => ends[plugin].isUse?.(place, path) ?? true);
  }

  async #before(effect: string): Promise<void> {
    await this.#deps.before?.(effect);
  }
}

/** As metrics name it: of a FlexVolume the driver, with which its place begins. */
const pluginOf = ({ plugin, place }: DiskPlace): string =>
  plugin === 'flexvolume' ? place.slice(0, place.lastIndexOf('/mounts/')) : `kubernetes.io/${plugin}`;

function unlessGone(error: unknown): void {
  if (!isMissingFile(error)) throw error;
}

function unlessFilled(error: unknown): void {
  if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '')) throw error;
}
