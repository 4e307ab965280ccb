/** One block of a PEM file: what stands between BEGIN and END. */
export interface PemBlock {
  /** "CERTIFICATE", "EC PRIVATE KEY" */
  readonly label: string;
  /** With its BEGIN and END lines, and a newline at the end. */
  readonly pem: string;
}

/** The blocks of a file, in order. What stands around them is skipped, as are blocks without an end. */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks = text.matchAll(/-----BEGIN ([^\n-]+)-----(?:(?!-----)[^])*-----END \1-----/g);
  return [...blocks].map(([pem, label = '']) => ({ label, pem: `${pem}\n` }));
}

/** A block with lines of 64 characters. */
export function toPem(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
