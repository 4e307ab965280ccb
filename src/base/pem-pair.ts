/** A certificate and its key, in PEM. */
export interface PemPair {
  /** The certificate first, then what leads from it to the CA. */
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** Whether both are the same certificate with the same key, or none. */
export function isSamePair(a: PemPair | undefined, b: PemPair | undefined): boolean {
  return a?.certificatePem === b?.certificatePem && a?.keyPem === b?.keyPem;
}
