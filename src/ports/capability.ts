import type { KubeletOptions } from '../options/kubelet-options.ts';
import type { Contribution } from './contribution.ts';
import type { NodeParts } from './node-parts.ts';

/** One line of the list: a folder of src/ whose capability.ts is loaded where the options want it. */
export interface Capability {
  readonly name: string;
  wanted(options: KubeletOptions): boolean;
  load(): Promise<CapabilityModule>;
}

export interface CapabilityModule {
  /** Builds, and starts nothing: what takes time is a service's, with `ready` where others have to wait for it. */
  readonly capability: (node: NodeParts) => Contribution | Promise<Contribution>;
}
