import { NEVER } from 'rxjs';
import type { ObjectStore } from '../ports/object-store.ts';
import type { ServiceAccountTokens } from '../ports/service-account-tokens.ts';

/** Where there is no API server. */
export const noObjects: ObjectStore = {
  get: async ({ kind, name }) => {
    throw new Error(`${kind.toLowerCase()} "${name}" cannot be read without an API server`);
  },
  register: () => {},
  unregister: () => {},
  changes: NEVER,
};

/** Where there is no API server. */
export const noTokens: ServiceAccountTokens = {
  get: async () => {
    throw new Error('failed to fetch token: there is no API server');
  },
  forget: () => {},
};
