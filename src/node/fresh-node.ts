import type { Node } from '../model/node.ts';
import type { NodeParts } from '../ports/node-parts.ts';

/** Pods wait for each other's admission. */
const FETCH_WITHIN_MS = 3_000;

/**
 * This node as the API server has it by now: labels that it was given for a pod may not have come by watch yet. Undefined where that cannot
 * be had in time (a refetch of predicateAdmitHandler in pkg/kubelet/lifecycle).
 */
export async function freshNode(
  { cluster, node, folded }: Pick<NodeParts, 'cluster' | 'node' | 'folded'>,
  signal: AbortSignal,
): Promise<Node | undefined> {
  if (!cluster.exists) return undefined;
  try {
    const path = `/api/v1/nodes/${node.name}`;
    return await cluster.clients.heartbeat.request<Node>({ method: 'GET', path, timeoutMs: FETCH_WITHIN_MS }, signal);
  } catch (error) {
    signal.throwIfAborted();
    folded.v(2, 'node not fetched once more: it is judged as it is known', { error });
    return undefined;
  }
}
