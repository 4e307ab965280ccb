import { withDeadline } from '../base/with-deadline.ts';
import type { ExplainedInShort, ExplainedNode, Explanation } from '../model/explanation.ts';
import type { NodeUsage } from '../ports/pod-stats.ts';
import { engineFault } from './engine-fault.ts';
import { explainNode } from './explain-node.ts';
import { inShort } from './explain-pod.ts';
import type { ExplainRoutesDeps } from './explain-routes.ts';
import { type Explainer, explainer } from './explainer.ts';

/** More than measuring takes. */
const MEASURED_WITHIN_MS = 3_000;

const explainerOf = ({ node, known, manifests }: ExplainRoutesDeps): Explainer => explainer({ ...node, known, manifests });

/** A line for each pod, and for each manifest that makes none. */
export function explainAll(deps: ExplainRoutesDeps): readonly ExplainedInShort[] {
  return explainerOf(deps).all().map(inShort);
}

/** All of this name, "namespace/name", in full. */
export function explainNamed(deps: ExplainRoutesDeps, pod: string, signal: AbortSignal): Promise<readonly Explanation[]> {
  return explainerOf(deps).named(pod, signal);
}

/** The node as it is now. */
export async function explainThisNode(deps: ExplainRoutesDeps, signal: AbortSignal): Promise<ExplainedNode> {
  const { node, watch } = deps;
  const { clock, pleg, engine, cluster, pods } = node;
  const given = deps.given();
  const participants = given?.node ?? [];
  const counts: Record<string, number> = {};
  for (const { state } of explainerOf(deps).all()) counts[state] = (counts[state] ?? 0) + 1;
  const fault = await engineFault(engine.runtime, clock, signal);
  const { answeredAtMs, failedAtMs, lease } = watch;
  return explainNode({
    nowMs: clock.now(),
    name: node.node.name,
    errors: participants.flatMap((each) => each.errors?.() ?? []),
    conditions: participants.flatMap((each) => each.conditions?.() ?? []),
    health: participants.flatMap((each) => each.health?.() ?? []),
    engine: { name: engine.name, ...pleg.health(), ...(fault === undefined ? {} : { healthy: false, message: fault }) },
    api: cluster.exists ? { answeredAtMs, failedAtMs, lease, registered: cluster.node() !== undefined } : undefined,
    usage: await usageOf(deps, signal),
    synced: pods.synced,
    pods: counts,
    sources: (given?.sources ?? []).map(({ name }) => name),
  });
}

/** Undefined: it cannot be measured now. */
async function usageOf({ node, given }: ExplainRoutesDeps, signal: AbortSignal): Promise<NodeUsage | undefined> {
  try {
    return await withDeadline(node.clock, MEASURED_WITHIN_MS, 'measuring the node', signal, async (within) => given()?.stats.node(within));
  } catch {
    return undefined;
  }
}
