import { jitter } from '../../base/jitter.ts';
import { formatTime } from '../../model/time.ts';
import type { CertificateSubject } from './certificate-request.ts';
import type { ClientIdentity } from './client-identity.ts';
import { alternativeNames } from './subject-alternative-name.ts';
import { CertificateRefusedError } from './csr-client.ts';

export interface RotationDecision {
  /** Milliseconds since the epoch; the past means now. */
  readonly dueMs: number;
  /** For the log: why then. */
  readonly because: string;
}

/**
 * When a certificate is to be replaced: at 70 to 90 % of its life, where in between is left to `chance` (0 to 1, drawn once a
 * certificate, so that nodes of one age do not come all at once); at once when it is not the node's (client-go certificate_manager.go).
 */
export function decideRotation(identity: ClientIdentity | undefined, wanted: CertificateSubject, chance: number): RotationDecision {
  const now = (because: string): RotationDecision => ({ dueMs: Number.NEGATIVE_INFINITY, because });
  if (identity === undefined) return now('there is none yet');
  const { commonName, organizations, notBeforeMs, notAfterMs } = identity;
  if (commonName !== wanted.commonName) return now(`it is for "${commonName}", and this node is "${wanted.commonName}"`);
  const missing = wanted.organizations.filter((organization) => !organizations.includes(organization));
  if (missing.length > 0) return now(`it lacks the organization ${missing.join(', ')}`);
  const uncovered = alternativeNames(wanted).filter((name) => !alternativeNames(identity).includes(name));
  if (uncovered.length > 0) return now(`it is not for ${uncovered.join(', ')}`);
  const lifeMs = notAfterMs - notBeforeMs;
  return { dueMs: notBeforeMs + lifeMs * (0.7 + 0.2 * chance), because: `it expires at ${formatTime(notAfterMs)}` };
}

export type Expiry = 'expired' | 'soon' | 'far';

/** `soon`: by now it should have been replaced, less than a tenth of its life is left. */
export function expiryOf({ notBeforeMs, notAfterMs }: ClientIdentity, nowMs: number): Expiry {
  if (nowMs >= notAfterMs) return 'expired';
  return notAfterMs - nowMs < (notAfterMs - notBeforeMs) / 10 ? 'soon' : 'far';
}

/** The kubelet's first delay and the one that it stays with. */
const FIRST_DELAY_MS = 2_000;
const LONGEST_DELAY_MS = 32_000;
/** After a refusal there is no use in asking often: each request waits for a human's eyes. */
const LONGEST_DELAY_AFTER_REFUSAL_MS = 15 * 60_000;

/** How long after the n-th failure in a row (n from 1) to ask again. */
export function renewalDelayMs(error: unknown, failures: number, random: () => number): number {
  const longestMs = error instanceof CertificateRefusedError ? LONGEST_DELAY_AFTER_REFUSAL_MS : LONGEST_DELAY_MS;
  return jitter(Math.min(longestMs, FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 30)), 0.1, random);
}
