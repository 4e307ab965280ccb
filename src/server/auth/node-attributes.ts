export type NodeVerb = 'get' | 'create' | 'update' | 'patch' | 'delete' | '';

/** What of the Node object a request touches, as an authorizer is asked about it. */
export interface NodeAttributes {
  readonly verb: NodeVerb;
  /** To be asked about in this order; one that is allowed is enough. Never empty. */
  readonly subresources: readonly string[];
}

const verbs: Readonly<Record<string, NodeVerb>> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Subresources of their own; the rest is part of nodes/proxy (pkg/kubelet/server/auth.go). */
const own: readonly (readonly [string, string])[] = [
  ['/stats', 'stats'],
  ['/metrics', 'metrics'],
  ['/logs', 'log'],
  ['/spec', 'spec'],
  ['/checkpoint', 'checkpoint'],
  ['/statusz', 'statusz'],
  // Flags are configuration.
  ['/flagz', 'configz'],
];

/** Finer ones that newer releases ask about before nodes/proxy (KEP-2862, KubeletFineGrainedAuthz). */
const finer: readonly (readonly [string, string])[] = [
  ['/pods', 'pods'],
  ['/runningpods', 'pods'],
  ['/healthz', 'healthz'],
  ['/configz', 'configz'],
];

/** `path` is decoded and plain. Methods that Kubernetes has no verb for have none here. */
export function nodeAttributes(method: string, path: string): NodeAttributes {
  const verb = Object.hasOwn(verbs, method) ? (verbs[method] ?? '') : '';
  const isUnder = ([root]: readonly [string, string]): boolean => path === root || path.startsWith(`${root}/`);
  const alone = own.find(isUnder);
  if (alone !== undefined) return { verb, subresources: [alone[1]] };
  const fine = finer.find(isUnder);
  return { verb, subresources: fine === undefined ? ['proxy'] : [fine[1], 'proxy'] };
}
