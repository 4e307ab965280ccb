import type { ManifestText } from '../model/plan-request.ts';
import type { DeclaredManifests } from './declared-manifests.ts';

/** The manifest directory of this node, for who plans a change of it. */
export interface NodeManifests {
  /** --pod-manifest-path; empty: there is none. */
  readonly path: string;
  /** What counts of them now, each pod as the file source gives it; undefined: they have not been read yet. */
  current(): DeclaredManifests | undefined;
  /** What these texts would declare there. Says what is wrong with them in the answer; rejects only when `signal` aborts. */
  read(manifests: readonly ManifestText[], signal: AbortSignal): Promise<Omit<DeclaredManifests, 'isWhole'>>;
}
