import type { Signal } from '../model/eviction/threshold.ts';

/** What pods use of what a signal is about, as the kubelet names it (signalToResource in pkg/kubelet/eviction). */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

export function starvedResource(signal: Signal): StarvedResource {
  switch (signal) {
    case 'memory.available':
    case 'allocatableMemory.available':
      return 'memory';
    case 'nodefs.available':
    case 'imagefs.available':
    case 'containerfs.available':
      return 'ephemeral-storage';
    case 'nodefs.inodesFree':
    case 'imagefs.inodesFree':
    case 'containerfs.inodesFree':
      return 'inodes';
    case 'pid.available':
      return 'pids';
    default:
      return signal satisfies never;
  }
}
