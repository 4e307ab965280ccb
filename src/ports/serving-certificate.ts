import type { Observable } from 'rxjs';

/** A certificate with what leads from it to its CA, and its key, both PEM. */
export interface ServingPair {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** What the node's server shows to its clients. */
export interface ServingCertificate {
  /** The pair to use from now on: at once where there is one, and each that takes its place. Never errors or completes. Nothing while none has been signed yet. */
  readonly pairs: Observable<ServingPair>;
}
