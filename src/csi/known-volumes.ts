import { join } from 'node:path';
import { Subject } from 'rxjs';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { namesIn } from '../base/names-in.ts';
import { namesPodDirectory } from '../model/pod-directory.ts';
import type { PodUid } from '../model/pod.ts';
import type { CsiVolumeTask } from '../ports/csi-volumes.ts';
import { removeEmpty } from './mounted.ts';
import { readVolumeData, type VolumeData } from './volume-data.ts';
import { type CsiPaths, type PublishedPaths, type StagedPaths, uniqueVolumeName } from './volume-paths.ts';

/** A volume that a pod has, or may have: a call that would make it has begun. */
export interface Use {
  readonly uid: PodUid;
  readonly name: string;
  readonly paths: PublishedPaths;
  data: VolumeData;
  readonly isBlock: boolean;
  /** The driver has been asked for it, or is about to be: it is on the disk. */
  begun: boolean;
  /** What it was made by; undefined: by an agent before this one, or it has not been made whole yet. */
  task?: CsiVolumeTask | undefined;
}

/** A volume that the node has for all pods, or may have. */
export interface StagedVolume {
  readonly driver: string;
  readonly handle: string;
  readonly paths: StagedPaths;
  readonly isBlock: boolean;
  /** Of SELinux, that its files have by the mount; undefined: each has its own. */
  readonly context: string | undefined;
  /** Whether this process has seen the driver say so. */
  isSure: boolean;
}

/** By driver and handle: what a driver calls a volume is its own. */
export const volumeKey = (driver: string, handle: string): string => `${driver.toLowerCase()}^${handle}`;
const keyOf = ({ data }: Use): string => volumeKey(data.driverName, data.volumeHandle);

/** What there is of CSI volumes on the node: read from the disk when the agent starts, and kept up since. */
export class KnownVolumes {
  readonly #paths: CsiPaths;
  /** By directory. */
  readonly #uses = new Map<string, Use>();
  readonly #staged = new Map<string, StagedVolume>();
  /** Those that somebody attaches to the node. */
  readonly #attached = new Map<string, string>();
  readonly #inUse = new Subject<void>();
  #isRead = false;
  /** Emits when `inUse` says something else. Hot. */
  readonly changes = this.#inUse.asObservable();

  constructor(paths: CsiPaths) {
    this.#paths = paths;
  }

  /** Finds what an agent before this one has left. What cannot be read is said, and is its pod's to undo; all else is found. */
  async read(log: Pick<Logger, 'warn'>): Promise<void> {
    const tried = async <T>(work: () => Promise<readonly T[]>): Promise<readonly T[]> => {
      try {
        return await work();
      } catch (error) {
        log.warn('CSI volumes that an agent before this one has left cannot be found', { error });
        return [];
      }
    };
    const data = (directory: string): Promise<VolumeData | undefined> =>
      readVolumeData(directory).catch((error: unknown) => {
        log.warn('what a CSI volume is cannot be read', { error });
        return undefined;
      });
    for (const uid of (await tried(() => entries(this.#paths.pods))).filter(namesPodDirectory)) {
      for (const use of await tried(() => usesOf(this.#paths, uid as PodUid, data))) this.use(use);
    }
    for (const driver of await tried(() => entries(this.#paths.plugin))) {
      const isBlock = driver === 'volumeDevices';
      for (const name of await tried(() => entries(join(this.#paths.plugin, driver)))) {
        const paths = isBlock ? deviceOrNone(this.#paths, name) : mountPaths(join(this.#paths.plugin, driver, name));
        const found = paths && (await data(paths.directory));
        if (paths === undefined) continue;
        if (found === undefined) {
          // An agent that ended as it removed it may have left the directory.
          await tried(async () => [await removeEmpty(paths.directory)]);
          continue;
        }
        const { driverName, volumeHandle: handle, selinuxMountContext: context } = found;
        this.stage({ driver: driverName, handle, paths, isBlock, isSure: false, context });
        // Whether somebody attaches it is not known here; to say so of one that nobody attaches does no harm.
        this.attach(driverName, handle);
      }
    }
    this.#isRead = true;
    this.#inUse.next();
  }

  use(use: Use): void {
    this.#uses.set(use.paths.directory, use);
    if (use.data.attachmentID) this.attach(use.data.driverName, use.data.volumeHandle);
  }

  used(directory: string): Use | undefined {
    return this.#uses.get(directory);
  }

  uses(): readonly Use[] {
    return [...this.#uses.values()];
  }

  usesOfPod(uid: PodUid): readonly Use[] {
    return this.uses().filter((use) => use.uid === uid);
  }

  usesOf(key: string): readonly Use[] {
    return this.uses().filter((use) => keyOf(use) === key);
  }

  /** Returns the volume's key. */
  unuse(use: Use): string {
    this.#uses.delete(use.paths.directory);
    this.#detach(keyOf(use));
    return keyOf(use);
  }

  stage(volume: StagedVolume): void {
    this.#staged.set(volumeKey(volume.driver, volume.handle), volume);
  }

  staged(key: string): StagedVolume | undefined {
    return this.#staged.get(key);
  }

  /** Those that no pod has. */
  idle(): readonly string[] {
    const used = new Set(this.uses().map(keyOf));
    return [...this.#staged.keys()].filter((key) => !used.has(key));
  }

  isIdle(key: string): boolean {
    return this.#staged.has(key) && this.usesOf(key).length === 0;
  }

  unstage(key: string): void {
    this.#staged.delete(key);
    this.#detach(key);
  }

  /** Somebody attaches the volume to the node: it is in use from now on, until the node has nothing of it. */
  attach(driver: string, handle: string): void {
    const key = volumeKey(driver, handle);
    if (this.#attached.has(key)) return;
    this.#attached.set(key, uniqueVolumeName(driver, handle));
    this.#inUse.next();
  }

  #detach(key: string): void {
    if (this.#staged.has(key) || this.usesOf(key).length > 0 || !this.#attached.delete(key)) return;
    this.#inUse.next();
  }

  /** What somebody attaches and must not detach, as node.status names it; undefined: not known yet. */
  inUse(): readonly string[] | undefined {
    return this.#isRead ? [...this.#attached.values()].toSorted() : undefined;
  }
}

/** What a pod has on the disk. What is there without being named is left out. */
export async function usesOf(
  paths: CsiPaths,
  uid: PodUid,
  read: (directory: string) => Promise<VolumeData | undefined> = readVolumeData,
): Promise<readonly Use[]> {
  const found: Use[] = [];
  const add = async (name: string, at: PublishedPaths, isBlock: boolean): Promise<void> => {
    const data = await read(at.data);
    if (data !== undefined) found.push({ uid, name, paths: at, data, isBlock, begun: true });
  };
  for (const name of await entries(paths.mountsOf(uid))) await add(name, paths.published(uid, name), false);
  for (const name of await entries(paths.devicesOf(uid))) await add(name, paths.publishedDevice(uid, name), true);
  return found;
}

const mountPaths = (directory: string): StagedPaths => ({ directory, staging: join(directory, 'globalmount') });

/** Beside the devices themselves there are the directories of those that are staged, and that are published. */
const deviceOrNone = (paths: CsiPaths, name: string): StagedPaths | undefined =>
  name === 'staging' || name === 'publish' ? undefined : paths.stagedDevice(name);

async function entries(directory: string): Promise<readonly string[]> {
  try {
    return await namesIn(directory);
  } catch (error) {
    throw new Error(`${directory} cannot be read: ${errorText(error)}`, { cause: error });
  }
}
