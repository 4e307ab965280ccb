import type { Disks } from '../../src/volumes/disks/disks.ts';

/** Of a node that attaches none. */
export const noDisks: Disks = {
  publish: () => Promise.reject(new Error('this node has no disks')),
  grow: () => Promise.reject(new Error('this node has no disks')),
  unpublish: async () => {},
  remain: async () => false,
  attachIscsi: () => Promise.reject(new Error('this node has no disks')),
  attachFc: () => Promise.reject(new Error('this node has no disks')),
};
