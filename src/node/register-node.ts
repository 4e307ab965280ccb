import { type ApiError, isAlreadyExists, isForbidden, isNotFound } from '../model/api-error.ts';
import type { Node } from '../model/node.ts';
import { createTwoWayMergePatch } from '../model/strategic-merge-patch.ts';
import type { KubeApi } from '../ports/kube-api.ts';
import type { Logger } from '../base/logger.ts';
import { adoptedNode } from './initial-node.ts';

export interface RegisterNodeDeps {
  readonly api: Pick<KubeApi, 'request'>;
  readonly log: Logger;
}

export interface RegisteredNode {
  /** As the API server has it now. */
  readonly node: Node;
  /** It took the status along, so there is nothing to send. */
  readonly created: boolean;
}

const nodesPath = '/api/v1/nodes';
export const nodePath = (name: string): string => `${nodesPath}/${encodeURIComponent(name)}`;

/**
 * Creates the Node, or adopts the one that exists: one attempt of tryRegisterWithAPIServer. Rejects with what the API server answered;
 * the caller tries again. A node that exists keeps its taints and its schedulability.
 */
export async function registerNode(initial: Node, { api, log }: RegisterNodeDeps, signal: AbortSignal): Promise<RegisteredNode> {
  const name = initial.metadata?.name ?? '';
  try {
    const node = await api.request<Node>({ method: 'POST', path: nodesPath, body: initial }, signal);
    log.info('node registered', { node: name });
    return { node, created: true };
  } catch (error) {
    // A certificate that may not create nodes may still own one that an administrator has made.
    const mayExist = isAlreadyExists(error) || isForbidden(error);
    if (!mayExist) throw error;
    const existing = await existingNode(name, { api, log }, error, signal);
    const adopted = adoptedNode(existing, initial);
    const patch = createTwoWayMergePatch(existing, adopted, 'Node');
    log.info('existing node adopted', { node: name, changed: Object.keys(patch).length > 0 });
    warnOfAnotherMachine(existing, initial, log);
    if (Object.keys(patch).length === 0) return { node: existing, created: false };
    const contentType = 'application/strategic-merge-patch+json';
    const node = await api.request<Node>({ method: 'PATCH', path: `${nodePath(name)}/status`, contentType, body: patch }, signal);
    return { node, created: false };
  }
}

async function existingNode(name: string, { api }: RegisterNodeDeps, refusal: unknown, signal: AbortSignal): Promise<Node> {
  try {
    return await api.request<Node>({ method: 'GET', path: nodePath(name) }, signal);
  } catch (error) {
    // That it is not there, or not ours to read, is no news: why it cannot be created is.
    throw isNotFound(error) || isForbidden(error) ? refusal : error;
  }
}

/** Two machines of one name take each other's pods. */
function warnOfAnotherMachine(existing: Node, initial: Node, log: Logger): void {
  const before = existing.status?.nodeInfo?.machineID ?? '';
  const now = initial.status?.nodeInfo?.machineID ?? '';
  if (before === '' || now === '' || before === now) return;
  log.warn('node registered before by another machine; if that one still runs, give one of them another name with --hostname-override', {
    node: initial.metadata?.name,
    machineId: now,
    before,
  });
}

/** What is to be done about a refused registration, where the answer tells; else undefined. */
export function explainRefusal(error: unknown, nodeName: string): string | undefined {
  if (!isForbidden(error)) return undefined;
  const { message } = error as ApiError;
  // NodeRestriction: "node "a" is not allowed to modify node "b""; RBAC: "User "system:node:a" cannot …".
  const user = /\bUser "([^"]*)"/i.exec(message)?.[1];
  const other = /\bnode "([^"]+)" is not allowed to (?:\S+ )?node "[^"]+"/.exec(message)?.[1] ?? /^system:node:(.+)$/.exec(user ?? '')?.[1];
  if (other !== undefined && other !== nodeName)
    return `the client certificate belongs to node "${other}", and this node is named "${nodeName}": give --hostname-override=${other}, or a kubeconfig with a certificate for system:node:${nodeName}`;
  if (user === 'system:anonymous')
    return 'the API server does not know this client: the kubeconfig has no valid client certificate or token';
  if (user === undefined) return undefined;
  return `user "${user}" may not register nodes: it needs to be system:node:${nodeName} in the group system:nodes, or be bound to the role system:node`;
}
