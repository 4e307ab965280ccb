import type { NumaMask } from './numa-mask.ts';

/** NUMA nodes that a resource could be given from (TopologyHint in pkg/kubelet/cm/topologymanager). */
export interface TopologyHint {
  /** Undefined: any. */
  readonly nodes: NumaMask | undefined;
  /** No fewer nodes would do, even were all free. */
  readonly preferred: boolean;
}

/** By resource. An empty list: it can be given from nowhere; undefined: it does not matter from where. */
export type TopologyHints = ReadonlyMap<string, readonly TopologyHint[] | undefined>;
