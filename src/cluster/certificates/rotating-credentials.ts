import type { CredentialSource } from '../../ports/api-credentials.ts';
import type { CertificateRotation } from './certificate-rotation.ts';

/** The rotation's certificate in place of the one that `given` has; whatever else it has, such as a token, counts while there is no certificate. */
export function rotatingCredentials(rotation: Pick<CertificateRotation, 'current' | 'load'>, given: CredentialSource): CredentialSource {
  let stale = false;
  return {
    async current(signal) {
      if (stale) {
        stale = false;
        // What cannot be read now is reported by the rotation's own look.
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
