import type { AuthenticationV1TokenRequest } from '@kubernetes/client-node';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { agoAtMost, type Moment, momentOf } from '../base/moment.ts';
import { type Pod, type PodUid, aboutPod } from '../model/pod.ts';
import type { Wire } from '../model/wire.ts';
import type { KubeApi } from '../ports/kube-api.ts';
import type { ServiceAccountTokens, TokenRequest } from '../ports/service-account-tokens.ts';

type WireTokenRequest = Wire<AuthenticationV1TokenRequest>;

export interface TokenManagerDeps {
  readonly api: Pick<KubeApi, 'request'>;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly log: Logger;
  /** Chance, so that not all tokens are renewed at once: from 0 up to 1. */
  readonly random: () => number;
}

interface IssuedToken {
  readonly token: string;
  /** When it was asked for: its life began no earlier. */
  readonly askedAt: Moment;
  readonly renewAfterMs: number;
  readonly lifeMs: number;
  /** Of the service account that was asked for. */
  readonly accountUid: string | undefined;
}

// pkg/kubelet/token: maxTTL, maxJitter, and a renewal once 80 % of the life are over.
const MAX_AGE_MS = 24 * 3_600_000;
const MAX_JITTER_MS = 10_000;
const LIFE_BEFORE_RENEWAL = 0.8;

/** Tokens from the API server, each kept until it is due (pkg/kubelet/token). */
export class TokenManager implements ServiceAccountTokens {
  readonly #deps: TokenManagerDeps;
  readonly #issued = new Map<PodUid, Map<string, IssuedToken>>();

  constructor(deps: TokenManagerDeps) {
    this.#deps = deps;
  }

  async get(pod: Pod, request: TokenRequest, signal: AbortSignal): Promise<string> {
    const { clock, log } = this.#deps;
    const { uid } = pod.metadata;
    const { accountUid } = request;
    const key = JSON.stringify([request.audience, request.expirationSeconds, accountUid !== undefined]);
    const last = this.#issued.get(uid)?.get(key);
    const known = last?.accountUid === accountUid ? last : undefined;
    if (known !== undefined && agoAtMost(known.askedAt, clock) < known.renewAfterMs) return known.token;
    try {
      const issued = await this.#request(pod, request, signal);
      // The pod may be forgotten already.
      signal.throwIfAborted();
      const ofPod = this.#issued.get(uid) ?? new Map<string, IssuedToken>();
      this.#issued.set(uid, ofPod.set(key, issued));
      return issued.token;
    } catch (error) {
      signal.throwIfAborted();
      if (known === undefined || agoAtMost(known.askedAt, clock) >= known.lifeMs)
        throw new Error(`failed to fetch token: ${errorText(error)}`, { cause: error });
      log.warn('service account token not renewed, the old one is still good', {
        ...aboutPod(pod),
        error,
      });
      return known.token;
    }
  }

  forget(uid: PodUid): void {
    this.#issued.delete(uid);
  }

  async #request(pod: Pod, { audience, expirationSeconds, accountUid }: TokenRequest, signal: AbortSignal): Promise<IssuedToken> {
    const { api, clock, random } = this.#deps;
    const { namespace, name, uid } = pod.metadata;
    const account = pod.spec.serviceAccountName || 'default';
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      ...(accountUid !== undefined && accountUid !== '' && { metadata: { uid: accountUid } }),
      spec: {
        ...(audience === '' ? {} : { audiences: [audience] }),
        expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
    };
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    const askedAt = momentOf(clock);
    const { spec, status } = await api.request<WireTokenRequest>({ method: 'POST', path, body }, signal);
    if (!status?.token) throw new Error('the server answered without a token');
    // The server's date of its end is by the server's clock; how long it lives is the same on both.
    const lifeMs = (spec?.expirationSeconds ?? expirationSeconds) * 1000;
    const renewAfterMs = Math.min(MAX_AGE_MS, lifeMs * LIFE_BEFORE_RENEWAL) - random() * MAX_JITTER_MS;
    return { token: status.token, askedAt, renewAfterMs, lifeMs, accountUid };
  }
}
