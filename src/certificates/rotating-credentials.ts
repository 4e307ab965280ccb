import type { PemPair } from './client-identity.ts';
import type { CertificateRotation } from './certificate-rotation.ts';

/** Credentials that may change at any time: asked before each request. */
export interface RotatingCredentials {
  current(signal: AbortSignal): Promise<{ readonly identity?: PemPair; readonly authorization?: string }>;
  /** The API server did not believe the last ones. Returns whether asking again may bring others. */
  refused(): boolean;
}

/** The rotation's certificate in place of the one that `given` has; whatever else it has, such as a token, counts while there is no certificate. */
export function rotatingCredentials(
  rotation: Pick<CertificateRotation, 'current' | 'load'>,
  given: RotatingCredentials,
): RotatingCredentials {
  let stale = false;
  return {
    async current(signal) {
      if (stale) {
        stale = false;
        // What cannot be read now is said by the rotation's own look.
        await rotation.load().catch(() => undefined);
      }
      return rotation.current === undefined ? given.current(signal) : { identity: rotation.current };
    },
    refused() {
      stale = true;
      return true;
    },
  };
}
