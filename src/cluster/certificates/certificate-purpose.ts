import type { CertificateUse } from '../../ports/happenings.ts';

/** What a node asks a certificate for, and what follows from it. */
export interface CertificatePurpose {
  /** As messages call it. */
  readonly what: 'client certificate' | 'serving certificate';
  /** As its happenings call it. */
  readonly use: CertificateUse;
  /** Files in --cert-dir begin with it. */
  readonly filePrefix: 'kubelet-client' | 'kubelet-server';
  /** certificates/v1 spec.signerName */
  readonly signerName: string;
  /** certificates/v1 spec.usages */
  readonly usages: readonly string[];
  /** For the log: what an expired one means. */
  readonly expired: string;
  /** The flag that has it renewed. */
  readonly flag: string;
}

/** Speaks to the API server. */
export const clientPurpose: CertificatePurpose = {
  what: 'client certificate',
  use: 'client',
  filePrefix: 'kubelet-client',
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  // The automatic approver of Kubernetes up to 1.26 wants exactly these; later ones would do without "key encipherment", which only RSA
  // keys need, and take it nevertheless (pkg/apis/certificates helpers.go).
  usages: ['digital signature', 'key encipherment', 'client auth'],
  expired: 'the client certificate has expired: the API server does not know this node until it is replaced',
  flag: '--rotate-certificates',
};

/** Is shown by the node's own server. */
export const servingPurpose: CertificatePurpose = {
  what: 'serving certificate',
  use: 'server',
  filePrefix: 'kubelet-server',
  signerName: 'kubernetes.io/kubelet-serving',
  usages: ['digital signature', 'key encipherment', 'server auth'],
  expired: 'the serving certificate has expired: clients that check it cannot reach this node until it is replaced',
  flag: '--rotate-server-certificates',
};
