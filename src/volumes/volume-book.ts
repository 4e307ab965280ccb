import { worldsText } from '../base/worlds-text.ts';
import type { PodUid } from '../model/pod.ts';
import type { Happenings } from '../ports/happenings.ts';
import { csiPlugin, type StorageKind, type StorageTeller, toldStorage } from '../ports/storage-operation.ts';
import { csiSource } from './csi-volume.ts';
import type { VolumeKind, VolumeSource } from './volume-kind.ts';

export interface VolumeBookDeps extends StorageTeller {
  readonly tell: Pick<Happenings, 'volumeMounted' | 'storageOperated'>;
}

/** A volume, as metrics tell it from others. */
export interface BookedVolume extends StorageKind {
  readonly isDevice: boolean;
  /** A CSI driver makes it, and tells itself of its end. */
  readonly isCsi: boolean;
}

/** Which volumes pods are to have, and which they have, as far as this process has made them; tells how long that took. */
export class VolumeBook {
  readonly #deps: VolumeBookDeps;
  readonly #wanted = new Map<PodUid, Map<string, BookedVolume>>();
  readonly #made = new Map<PodUid, Map<string, BookedVolume>>();

  constructor(deps: VolumeBookDeps) {
    this.#deps = deps;
  }

  /** As the work, which makes the volume. */
  async making<T>(uid: PodUid, name: string, volume: BookedVolume, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { clock, tell } = this.#deps;
    const { plugin, isMigrated = false, isDevice } = volume;
    note(this.#wanted, uid, name, volume);
    const beganMs = clock.monotonicMs();
    const ended = (failed: boolean): void =>
      tell.volumeMounted({ plugin, isMigrated, isDevice, tookMs: clock.monotonicMs() - beganMs, failed });
    let made: T;
    try {
      made = await work();
    } catch (error) {
      if (!signal.aborted) ended(true);
      throw error;
    }
    this.found(uid, name, volume);
    ended(false);
    return made;
  }

  /** It was made by an agent before this one. */
  found(uid: PodUid, name: string, volume: BookedVolume): void {
    note(this.#made, uid, name, volume);
  }

  /** As the work, which changes who may use the files of a volume. */
  giving(volume: BookedVolume, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    return toldStorage(this.#deps, [{ operation: 'volume_apply_access_control', ...volume }], signal, work);
  }

  /** The pod is to have none any more. */
  unwant(uid: PodUid): void {
    this.#wanted.delete(uid);
  }

  /** As the work, which takes all of the pod's volumes away together: each has taken as long as all. */
  async ending(uid: PodUid, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const own = [...(this.#made.get(uid)?.values() ?? [])].filter(({ isCsi }) => !isCsi);
    const operations = own.map((volume) => ({ operation: volume.isDevice ? 'unmap_volume' : 'volume_unmount', ...volume }) as const);
    await toldStorage(this.#deps, operations, signal, work);
    this.#made.delete(uid);
  }

  /** The part of /metrics about it (pkg/kubelet/volumemanager/metrics). */
  text(): string {
    const made = pluginsIn(this.#made);
    const known = new Set(made);
    const wanted = pluginsIn(this.#wanted);
    const metric = { name: 'volume_manager_total_volumes', help: 'Number of volumes in Volume Manager', label: 'plugin_name' };
    // One pod can name hundreds of drivers that are not there: those that are come first.
    const desired = [...wanted.filter((plugin) => known.has(plugin)), ...wanted.filter((plugin) => !known.has(plugin))];
    return worldsText(metric, { actual: made, desired });
  }
}

export function bookedVolume({ plugin }: VolumeKind, source: VolumeSource, isDevice: boolean): BookedVolume {
  const csi = csiSource(source);
  if (csi === undefined) return { plugin: plugin.replace('~', '/'), isDevice, isCsi: false };
  const driver = 'inline' in csi ? csi.inline.driver : csi.persistent.spec?.csi?.driver;
  return { plugin: csiPlugin(driver ?? ''), isMigrated: 'persistent' in csi && csi.isMigrated === true, isDevice, isCsi: true };
}

/** Of each of the volumes. */
function pluginsIn(world: ReadonlyMap<PodUid, ReadonlyMap<string, BookedVolume>>): readonly string[] {
  return [...world.values()].flatMap((volumes) => [...volumes.values()].map(({ plugin }) => plugin));
}

function note(world: Map<PodUid, Map<string, BookedVolume>>, uid: PodUid, name: string, volume: BookedVolume): void {
  const volumes = world.get(uid) ?? new Map<string, BookedVolume>();
  world.set(uid, volumes.set(name, volume));
}
