import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod, PodUid } from '../model/pod.ts';
import type { CsiVolumeUsage } from '../ports/csi-volumes.ts';
import type { FilesystemStats, VolumeUsage } from '../ports/pod-stats.ts';
import type { DirectoryUsages } from './directory-usages.ts';
import { type FileSystems, partOf } from './file-systems.ts';
import { mountPoints } from './proc-texts.ts';

export interface VolumeUsagesDeps {
  /** --root-dir */
  readonly rootDir: string;
  readonly fileSystems: FileSystems;
  readonly directories: DirectoryUsages;
  readonly declared: (uid: PodUid) => Pod | undefined;
  /** What CSI drivers say of their volumes. */
  readonly csi?: ((uid: PodUid, name: string) => Promise<CsiVolumeUsage | undefined>) | undefined;
}

/** One volume, and whether what it holds counts as the pod's own use of the node's disk (server/stats isVolumeEphemeral). */
export interface FoundVolume {
  readonly usage: VolumeUsage;
  readonly ephemeral: boolean;
  /** The directory that is counted; undefined where the file system counts itself. */
  readonly counted: string | undefined;
}

const CSI = 'kubernetes.io~csi';
const ephemeralPlugins: ReadonlySet<string> = new Set(['kubernetes.io~empty-dir', 'kubernetes.io~configmap', 'kubernetes.io~git-repo']);

/** What a pod's volumes hold, as they lie below --root-dir: pods/UID/volumes/PLUGIN/NAME. What lies elsewhere (hostPath) is not the pod's. */
export async function volumeUsages(deps: VolumeUsagesDeps, uid: PodUid, mountInfo: string): Promise<readonly FoundVolume[]> {
  // As the mount table names it.
  const directory = join(deps.rootDir, 'pods', uid, 'volumes');
  const above = await realpath(directory).catch(() => directory);
  // What has two dots is no plugin's: it is being removed.
  const plugins = (await readdir(above).catch(() => [])).filter((name) => !name.startsWith('..'));
  const mounted = mountPoints(mountInfo);
  const claims = claimsOf(deps.declared(uid));
  const found = plugins.map(async (plugin) => {
    const names = await readdir(join(above, plugin)).catch(() => []);
    return Promise.all(names.map((name) => one(plugin, name)));
  });
  return (await Promise.all(found)).flat().filter((volume) => volume !== undefined);

  async function one(plugin: string, name: string): Promise<FoundVolume | undefined> {
    const told = plugin === CSI ? await deps.csi?.(uid, name) : undefined;
    // A driver mounts it within its directory.
    const path =
      plugin === CSI && mounted.has(join(above, plugin, name, 'mount')) ? join(above, plugin, name, 'mount') : join(above, plugin, name);
    const own = mounted.has(path);
    // All that is not mounted lies on one file system, which need not be asked for each.
    const whole: FilesystemStats | undefined = told?.stats
      ? told.stats
      : own
        ? await deps.fileSystems.holding(path, () => mountInfo, true)
        : await deps.fileSystems.holding(join(deps.rootDir, 'pods'), () => mountInfo);
    const stats = own || told?.stats ? whole : partOf(whole, deps.directories.latest(path));
    if (stats === undefined) return undefined;
    const shown = told?.volume ?? name;
    const claim = claims.get(shown);
    return {
      usage: { name: shown, ...stats, ...(claim ? { claim } : {}) },
      ephemeral: !own && ephemeralPlugins.has(plugin),
      counted: own || told?.stats ? undefined : path,
    };
  }
}

function claimsOf(pod: Pod | undefined): ReadonlyMap<string, { readonly name: string; readonly namespace: string }> {
  const volumes = pod?.spec.volumes ?? [];
  return new Map(
    volumes.flatMap(({ name, persistentVolumeClaim: claim }) =>
      pod && claim ? [[name, { name: claim.claimName, namespace: pod.metadata.namespace }] as const] : [],
    ),
  );
}
