import type { NodeStatus } from '../model/node.ts';
import type { EngineHandler } from '../ports/engine-features.ts';

/** What the Node says of the engine's handlers (pkg/kubelet/nodestatus RuntimeHandlers). */
export function runtimeHandlerStatuses(handlers: readonly EngineHandler[]): NonNullable<NodeStatus['runtimeHandlers']> {
  return handlers.map(({ name, recursiveReadOnly, userNamespaces }) => ({
    name,
    features: { recursiveReadOnlyMounts: recursiveReadOnly, userNamespaces },
  }));
}
