import type { Happenings } from '../../src/ports/happenings.ts';

/** Happenings that nothing listens to. */
export const silentHappenings: Happenings = new Proxy({} as Happenings, { get: () => () => {} });
