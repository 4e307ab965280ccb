import type { Observable } from 'rxjs';
import type { ManifestObject } from '../model/manifest-object.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import type { ClaimReader } from './claim-reader.ts';
import type { ObjectStore } from './object-store.ts';
import type { ServiceObject } from './service-object.ts';
import type { ServiceAccountReader } from './service-account-reader.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';
import type { Staged } from './staged.ts';

/** The objects that pods may refer to: those of the API server for its own pods, for static pods those of the manifest directory and nothing else. */
export interface PodObjects {
  for(pod: Pod): Pick<ObjectStore, 'get'>;
  /** See ObjectStore. */
  register(pod: Pod): void;
  unregister(uid: PodUid): void;
  readonly changes: Observable<PodUid>;
  readonly tokens: ServiceAccountTokens;
  readonly serviceAccount: ServiceAccountReader;
  readonly claims: ClaimReader;
  /** The services that the environment of the pod's containers names; undefined while they are not known. */
  servicesFor(pod: Pod, signal: AbortSignal): Promise<readonly ServiceObject[] | undefined>;
  /** Takes the complete set of what the manifest directory declares. */
  declare(objects: readonly ManifestObject[]): void;
  /** What keeps all this up to date. */
  readonly services: readonly Staged[];
}
