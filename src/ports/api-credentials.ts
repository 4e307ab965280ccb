import type { PemPair } from '../base/pem-pair.ts';

/** Who the agent is to the API server; neither of both: anonymous. */
export interface Credentials {
  readonly identity?: PemPair | undefined;
  /** The Authorization header: "Bearer …", "Basic …". */
  readonly authorization?: string | undefined;
}

/** Where credentials come from. They may change at any time: asked before each request. */
export interface CredentialSource {
  /** The present ones; costs nothing while they are fresh. Rejects with an error for people, or the signal's reason. */
  current(signal: AbortSignal): Promise<Credentials>;
  /** The API server did not accept the last ones (401). Returns whether asking again may bring others. */
  refused(): boolean;
}
