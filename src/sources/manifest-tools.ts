import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ManifestFault, ManifestWarning } from '../model/manifest-fault.ts';
import { manifestName } from './manifest-name.ts';
import { staticPodReader } from './read-static-pods.ts';

export interface ManifestTools {
  /** The manifests under a path, as the file source sees it: one file, or the files of a directory by name. Rejects when the path cannot be read. */
  list(path: string): Promise<readonly string[]>;
  /** What the file source would say of a manifest, and what of its pods would not be honoured; `pods` are "namespace/name", `objects` "Secret namespace/name". */
  check(manifest: Uint8Array): {
    readonly pods: readonly string[];
    readonly objects: readonly string[];
    readonly faults: readonly ManifestFault[];
    readonly warnings: readonly ManifestWarning[];
  };
}

/** For commands that look at manifests without running them. */
export function manifestTools({ nodeName }: { readonly nodeName: string }): ManifestTools {
  const read = staticPodReader({ source: 'file', nodeName, references: 'manifests', objects: true });
  return {
    async list(path) {
      if (!(await stat(path)).isDirectory()) return [path];
      const entries = await readdir(path);
      const files = entries.filter((name) => manifestName(name) === 'manifest').sort();
      // What cannot be looked at now is said by who reads it.
      const isManifest = async (name: string): Promise<boolean> =>
        stat(join(path, name)).then(
          (found) => found.isFile(),
          () => true,
        );
      const kept = await Promise.all(files.map(isManifest));
      return files.filter((_, i) => kept[i]).map((name) => join(path, name));
    },
    check(manifest) {
      const { pods, objects, faults, warnings } = read(manifest);
      const all = [...faults, ...[...pods, ...objects].flatMap((each) => each.faults)];
      return {
        pods: pods.map(({ key }) => key),
        objects: objects.map(({ key }) => key),
        faults: all,
        warnings: [...warnings, ...pods.flatMap(({ unhonoured }) => unhonoured)],
      };
    },
  };
}
