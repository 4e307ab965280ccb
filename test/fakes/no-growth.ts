import type { VolumeGrowth } from '../../src/volumes/volume-growth.ts';

/** Of volumes that nobody looks after. */
export const noGrowth: Pick<VolumeGrowth, 'keep' | 'forget'> = { keep: () => {}, forget: () => {} };
