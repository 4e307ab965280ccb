import type { Node, NodeAddress, ResourceList } from '../model/node.ts';

export interface ProvidedResources {
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
}

/** The one truth of what the node has. Reservations are kept from pods: allocatable is what is left for them. */
export interface NodeResources {
  /** As the API server shows it, else as the machine is; empty where neither is known. */
  capacity(): ResourceList;
  /** As the API server shows it, else capacity less what is reserved; empty where neither is known. */
  allocatable(): ResourceList;
  /** By whom, for what: "system", "kube". In place of what the same name reserved before. */
  reserve(name: string, amounts: ResourceList): void;
  /** The sum of all reservations. */
  reserved(): ResourceList;
  /** What the node has besides the machine's, asked for each time: counted into capacity and, less what is unusable of it, into allocatable. */
  provide(more: () => ResourceList, unusable?: () => ResourceList): void;
  /** All of that, and what of it can be had. Zero of what there was before. */
  provided(): ProvidedResources;
}

/** This node, whether or not an API server knows it. */
export interface ThisNode {
  readonly name: string;
  /** Its addresses, at most one a family, primary first. */
  readonly ips: readonly string[];
  /** The Node to register, but for its status. */
  readonly initial: Node;
  /** As the API server shows it, else `initial` with the machine's own allocatable. */
  known(): Node;
  addresses(): readonly NodeAddress[];
  readonly resources: NodeResources;
}
