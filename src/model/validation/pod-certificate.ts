import type { V1PodCertificateProjection } from '@kubernetes/client-node';
import type { FieldErrors } from './field-error.ts';
import { isDns1123Subdomain } from './formats.ts';
import type { Given } from './given.ts';
import { validateLocalNonReservedPath } from './paths.ts';

const keyTypes: readonly string[] = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];

/** A certificate that the node asks for on behalf of the pod. */
export function validatePodCertificate(source: Given<V1PodCertificateProjection>, at: string, errors: FieldErrors): void {
  const { signerName = '', keyType = '' } = source;
  const [domain = '', path = ''] = signerName.split('/', 2);
  if (signerName === '') errors.required(`${at}.signerName`);
  else if (path === '' || isDns1123Subdomain(domain).length > 0) {
    errors.invalid(`${at}.signerName`, signerName, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  }
  if (!keyTypes.includes(keyType)) errors.notSupported(`${at}.keyType`, keyType, keyTypes);
  for (const field of ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const) {
    if (source[field] !== undefined) validateLocalNonReservedPath(source[field], `${at}.${field}`, errors);
  }
}
