import { ClusterNode } from './cluster-node.ts';

export interface SharedNode {
  start(...flags: string[]): Promise<ClusterNode>;
  stop(): Promise<void>;
}

/** A node for several tests, from their `before` to their `after`. */
export function sharedNode(): SharedNode {
  const disposals: (() => Promise<void>)[] = [];
  return {
    start: (...flags) => ClusterNode.start({ after: (dispose) => void disposals.push(dispose) }, ...flags),
    stop: async () => {
      for (const dispose of disposals) await dispose();
    },
  };
}
