import { X509Certificate } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { deadline } from '../../base/deadline.ts';
import type { PemPair } from '../../base/pem-pair.ts';
import { ApiError, ApiUnreachableError, isNotFound } from '../../model/api-error.ts';
import type { KubeApi } from '../../ports/kube-api.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { connectionFault } from './connection-fault.ts';
import { through } from './proxy.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

/** The agent must say what is wrong within five seconds of its start. */
const DEADLINE_MS = 4_000;
const USER_PREFIX = 'system:node:';

export interface CheckAccessDeps {
  readonly api: Pick<KubeApi, 'request'>;
  readonly access: ClusterAccess;
  readonly nodeName: string;
  readonly clock: Clock;
}

/**
 * Asks the API server once for this node's own Node. Rejects with KubeconfigError when the kubeconfig cannot work: the server's
 * certificate does not pass, or the server refuses this user, and then with its answer. Rejects with ApiUnreachableError when there is
 * no answer, or none of use, which may pass.
 */
export async function checkAccess({ api, access, nodeName, clock }: CheckAccessDeps, signal: AbortSignal): Promise<void> {
  const { origin } = access;
  const server = `${access.server}${through(access.proxy)}`;
  using within = deadline(clock, DEADLINE_MS, 'the first request', signal);
  try {
    await api.request({ method: 'GET', path: `/api/v1/nodes/${encodeURIComponent(nodeName)}` }, within.signal);
  } catch (error) {
    if (isNotFound(error)) return;
    signal.throwIfAborted();
    if (within.missed)
      throw new ApiUnreachableError(`the API server ${server} did not answer within ${DEADLINE_MS / 1000} s`, { cause: error });
    if (error instanceof ApiUnreachableError && connectionFault(error.cause, access).kind === 'untrusted') {
      throw new KubeconfigError('untrusted', `${origin}: ${error.message}`, { cause: error });
    }
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 401 && error.status !== 403) {
      throw new ApiUnreachableError(`the API server ${server} is not ready: ${error.message}`, { cause: error });
    }
    const { identity } = await access.credentials.current(signal);
    const other = identity === undefined ? undefined : explainNodeName(identity, nodeName);
    const answer = `the API server ${server} refuses (${[error.status, error.reason].join(' ').trim()}): ${error.message}`;
    throw new KubeconfigError('refused', [`${origin}: ${answer}`, other].filter((part) => part !== undefined).join('; '), { cause: error });
  }
}

/**
 * What is wrong when the client certificate is another node's: the API server then lets this agent change nothing of its own
 * (NodeRestriction). Undefined when it is this node's, or no node's.
 */
export function explainNodeName({ certificatePem }: PemPair, nodeName: string): string | undefined {
  const { CN } = new X509Certificate(certificatePem).toLegacyObject().subject;
  const user = typeof CN === 'string' ? CN : '';
  if (!user.startsWith(USER_PREFIX) || user === `${USER_PREFIX}${nodeName}`) return undefined;
  return `its client certificate is that of node "${user.slice(USER_PREFIX.length)}", and this node is named "${nodeName}": give it that name with --hostname-override, or a certificate of its own`;
}
