import { NEVER } from 'rxjs';
import type { Pod } from '../model/pod.ts';
import type { ClaimReader } from '../ports/claim-reader.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { ServiceAccountReader } from '../ports/service-account-reader.ts';
import type { ServiceAccountTokens } from '../ports/service-account-tokens.ts';
import type { ServiceObject } from '../ports/service-object.ts';

/** What pods get to see of the API. */
export interface ApiForPods {
  readonly objects: ObjectStore;
  readonly tokens: ServiceAccountTokens;
  readonly serviceAccount: ServiceAccountReader;
  readonly claims: ClaimReader;
  /** The services that the environment of the pod's containers names; undefined while they are not known. */
  readonly servicesFor: (pod: Pod, signal: AbortSignal) => Promise<readonly ServiceObject[] | undefined>;
}

const noObject = async (): Promise<never> => {
  throw new Error('there is no API server');
};

/** Where there is no API server. */
export const noApi: ApiForPods = {
  objects: {
    get: async ({ kind, name }) => {
      throw new Error(`${kind.toLowerCase()} "${name}" cannot be read without an API server`);
    },
    register: () => {},
    unregister: () => {},
    changes: NEVER,
  },
  tokens: {
    get: async () => {
      throw new Error('failed to fetch token: there is no API server');
    },
    forget: () => {},
  },
  serviceAccount: noObject,
  claims: { claim: noObject, volume: noObject },
  servicesFor: async () => [],
};
