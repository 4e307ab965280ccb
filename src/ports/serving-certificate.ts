import type { Observable } from 'rxjs';
import type { PemPair } from '../base/pem-pair.ts';

/** A certificate with what leads from it to its CA, and its key. */
export type ServingPair = PemPair;

/** What the node's server shows to its clients. */
export interface ServingCertificate {
  /** The pair to use from now on: at once where there is one, and each that takes its place. Never errors or completes. Nothing while none has been signed yet. */
  readonly pairs: Observable<ServingPair>;
}
