import type { NodeStatus } from '../model/node.ts';

export interface RuntimeHandler {
  /** Empty for the default. */
  readonly name: string;
  readonly recursiveReadOnly: boolean;
  readonly userNamespaces: boolean;
}

/** What the Node says of the engine's handlers (pkg/kubelet/nodestatus RuntimeHandlers). */
export function runtimeHandlerStatuses(handlers: readonly RuntimeHandler[]): NonNullable<NodeStatus['runtimeHandlers']> {
  return handlers.map(({ name, recursiveReadOnly, userNamespaces }) => ({
    name,
    features: { recursiveReadOnlyMounts: recursiveReadOnly, userNamespaces },
  }));
}
