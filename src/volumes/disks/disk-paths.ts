import { basename, dirname, join } from 'node:path';
import { namesIn } from '../../base/names-in.ts';
import { podDirectory } from '../../model/pod-directory.ts';
import type { PodUid } from '../../model/pod.ts';
import type { DiskOrder, DiskPlugin } from './disk-order.ts';

const DEVICES = 'volumeDevices';

/** A disk that the node has for all pods. */
export interface DiskPlace {
  readonly plugin: DiskPlugin;
  readonly place: string;
  readonly isBlock: boolean;
  /** Where it is mounted; of a device, where each pod has a file by its uid. */
  readonly directory: string;
}

/** Where the kubelet has what belongs to disks. */
export class DiskPaths {
  readonly #rootDir: string;
  readonly pods: string;

  constructor(rootDir: string) {
    this.#rootDir = rootDir;
    this.pods = join(rootDir, 'pods');
  }

  plugin(plugin: DiskPlugin): string {
    return join(this.#rootDir, 'plugins/kubernetes.io', plugin);
  }

  /** Where the disks of a plugin are: those that are mounted, and those that pods have as devices. */
  above(plugin: DiskPlugin): readonly { readonly isBlock: boolean; readonly directory: string }[] {
    const own = this.plugin(plugin);
    const isLocal = plugin === 'local-volume';
    const devices = isLocal ? join(this.#rootDir, 'plugins', `kubernetes.io~${plugin}`) : own;
    return [
      { isBlock: false, directory: isLocal ? join(own, 'mounts') : own },
      { isBlock: true, directory: join(devices, DEVICES) },
    ];
  }

  placeOf({ plugin, place, isBlock }: Pick<DiskOrder, 'plugin' | 'place' | 'isBlock'>): DiskPlace {
    const above = this.above(plugin).find((each) => each.isBlock === isBlock)?.directory ?? this.plugin(plugin);
    return { plugin, place, isBlock, directory: join(above, place) };
  }

  /** What says more of a disk than its place. iSCSI's is a kubelet's, which what is mounted there hides. */
  recordOf({ plugin, directory }: DiskPlace): string {
    return plugin === 'flexvolume' ? join(dirname(directory), `.${basename(directory)}${RECORD_END}`) : join(directory, 'iscsi.json');
  }

  /** Of a pod: a link for each of its devices. */
  linksOf(plugin: DiskPlugin, uid: PodUid): string {
    return join(podDirectory(this.#rootDir, uid), DEVICES, `kubernetes.io~${plugin}`);
  }

  /** What an agent before this one, or a kubelet, has left. */
  async found(plugin: DiskPlugin): Promise<readonly DiskPlace[]> {
    if (plugin === 'flexvolume') return this.#foundOfFlex();
    const found: DiskPlace[] = [];
    for (const { isBlock, directory } of this.above(plugin)) {
      for (const name of await namesIn(directory)) {
        if (name === DEVICES) continue;
        const places = plugin !== 'iscsi' ? [name] : (await namesIn(join(directory, name))).map((each) => `${name}/${each}`);
        for (const place of places) found.push(this.placeOf({ plugin, place, isBlock }));
      }
    }
    return found;
  }

  /** A driver's name has one part or two, and may look like a directory: what has a record is a volume. */
  async #foundOfFlex(): Promise<readonly DiskPlace[]> {
    const above = this.plugin('flexvolume');
    const found: DiskPlace[] = [];
    for (const first of await namesIn(above)) {
      const seconds = (await namesIn(join(above, first))).map((each) => `${first}/${each}`);
      for (const driver of [first, ...seconds]) {
        const mounts = `${driver}/mounts`;
        for (const name of await namesIn(join(above, mounts))) {
          if (!name.startsWith('.') || !name.endsWith(RECORD_END)) continue;
          found.push(this.placeOf({ plugin: 'flexvolume', place: `${mounts}/${name.slice(1, -RECORD_END.length)}`, isBlock: false }));
        }
      }
    }
    return found;
  }
}

const RECORD_END = '.json';
