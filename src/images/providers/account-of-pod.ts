import { hash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import { withDeadline } from '../../base/with-deadline.ts';
import { isForbidden } from '../../model/api-error.ts';
import { isStaticPod } from '../../model/mirror-pod.ts';
import type { Pod } from '../../model/pod.ts';
import type { PodObjects } from '../../ports/pod-objects.ts';
import type { SourceReference } from '../verification/pull-credentials.ts';
import type { TokenAttributes } from './provider-faults.ts';

/** In whose name a provider is asked. */
export interface ProviderAccount {
  /** The service account itself. */
  readonly account: SourceReference;
  /** For the program's standard input, and nothing else. */
  readonly token: string;
  /** Those of the service account that the provider wants. */
  readonly annotations: Readonly<Record<string, string>>;
  /** An answer counts for all of the same key: of one service account, or of one token. */
  readonly cacheKey: string;
  /** Who asks at the same time with the same key gets one answer. */
  readonly askKey: string;
  /** Whether the token itself may be the password of a registry. */
  readonly mayBePassword: boolean;
}

/** Undefined: it is asked in nobody's name. */
export type AskedFor = ProviderAccount | { readonly notAsked: string } | undefined;

export interface AccountOfPodDeps extends Pick<PodObjects, 'serviceAccount' | 'tokens'> {
  readonly clock: Pick<Clock, 'schedule' | 'monotonicMs'>;
}

/** What pulls wait at most for a service account and its token: they may work without. */
const DEADLINE_MS = 30_000;
/** The API server's own, for who names none. */
const TOKEN_SECONDS = 3_600;

/** The service account of a pod that has one; the API server binds no token to a static pod. Empty: none. */
export function serviceAccountOf(pod: Pod): string {
  return isStaticPod(pod) ? '' : (pod.spec.serviceAccountName ?? '');
}

/**
 * What a provider with tokenAttributes is told of a pod (serviceAccountProvider in pkg/credentialprovider/plugin): the annotations of its service
 * account, read afresh, and a token of that account that is bound to the pod. Rejects with what to do where these cannot be had.
 */
export async function accountOfPod(wanted: TokenAttributes, pod: Pod, deps: AccountOfPodDeps, signal: AbortSignal): Promise<AskedFor> {
  const name = serviceAccountOf(pod);
  if (name === '') return wanted.required ? { notAsked: 'the pod has no service account' } : undefined;
  const about = `service account ${pod.metadata.namespace}/${name}`;
  return withDeadline(deps.clock, DEADLINE_MS, `reading the ${about} and getting its token from the API server`, signal, (within) =>
    unlessAborted(read(wanted, pod, about, deps, within), within),
  );
}

async function read(
  wanted: TokenAttributes,
  pod: Pod,
  about: string,
  { serviceAccount, tokens }: AccountOfPodDeps,
  signal: AbortSignal,
): Promise<AskedFor> {
  const { audience, cacheType } = wanted;
  const { namespace } = pod.metadata;
  const name = serviceAccountOf(pod);
  const { metadata } = await serviceAccount(namespace, name, signal).catch((cause: unknown) => {
    throw failure(`${about} could not be read`, cause, 'allow the group system:nodes to get serviceaccounts');
  });
  const annotations = new Map(Object.entries(metadata?.annotations ?? {}));
  const missing = wanted.requiredKeys.find((key) => !annotations.has(key));
  if (missing !== undefined) return { notAsked: `required annotation ${missing} not found on the ${about}` };
  const accountUid = metadata?.uid ?? '';
  const token = await tokens.get(pod, { audience, expirationSeconds: TOKEN_SECONDS, accountUid }, signal).catch((cause: unknown): never => {
    const right = `allow the group system:nodes the verb request-serviceaccounts-token-audience on ${JSON.stringify(audience)}`;
    throw failure(`no token of the ${about} for the audience ${JSON.stringify(audience)}`, cause, right);
  });
  const told = [...wanted.requiredKeys, ...wanted.optionalKeys].toSorted().flatMap((key) => {
    const value = annotations.get(key);
    return value === undefined ? [] : [[key, value] as const];
  });
  const account = [namespace, name, accountUid, told];
  const askKey = digest([...account, digest(token)]);
  return {
    account: { uid: accountUid, namespace, name },
    token,
    annotations: Object.fromEntries(told),
    askKey,
    cacheKey: cacheType === 'Token' ? askKey : digest(account),
    mayBePassword: cacheType === 'Token',
  };
}

/** Annotations may be long, and tokens are not kept. */
const digest = (of: unknown): string => hash('sha256', JSON.stringify(of));

function failure(what: string, cause: unknown, right: string): Error {
  const refused = isForbidden(cause) || (cause instanceof Error && isForbidden(cause.cause));
  return new Error(`${what}: ${errorText(cause)}${refused ? `; ${right}` : ''}`, { cause });
}
