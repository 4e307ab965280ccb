import type { ManifestFault } from '../model/manifest-fault.ts';
import type { ManifestObject } from '../model/manifest-object.ts';
import type { Pod } from '../model/pod.ts';

/** What manifests declare, each part with its file, by the name that it is shown by: "default/web", "Secret default/login". */
export interface DeclaredManifests {
  readonly pods: ReadonlyMap<string, { readonly pod: Pod; readonly file: string }>;
  readonly objects: ReadonlyMap<string, { readonly object: ManifestObject; readonly file: string }>;
  /** Files that declare nothing, and why not. `pods` are what they were meant to declare, as far as that can be read. */
  readonly refused: readonly { readonly file: string; readonly pods: readonly string[]; readonly faults: readonly ManifestFault[] }[];
  /** Files that could not be read, with the error's words. */
  readonly unreadable: readonly { readonly file: string; readonly why: string }[];
  /** A directory was among the paths: it stands for all manifests, and not only for those of the same name. */
  readonly isWhole: boolean;
}
