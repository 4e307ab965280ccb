import type { Pod, PodUid } from '../model/pod.ts';

export interface TokenRequest {
  /** Empty: the API server's own. */
  readonly audience: string;
  readonly expirationSeconds: number;
  /** Of the service account that is meant: no token of another one of its name counts. Undefined: whichever has the name. */
  readonly accountUid?: string;
}

/** Tokens of pods' service accounts, bound to the pod. Never logged. */
export interface ServiceAccountTokens {
  /** The token at hand, or a new one once it is due: ask from time to time. */
  get(pod: Pod, request: TokenRequest, signal: AbortSignal): Promise<string>;
  forget(uid: PodUid): void;
}
