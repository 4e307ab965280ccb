import type { Proxy } from './proxy.ts';
import type { Credentials, CredentialSource } from '../../ports/api-credentials.ts';

/** All that it takes to speak to one API server. */
export interface ClusterAccess {
  /** Without a slash at its end: "https://10.0.0.1:6443", perhaps with a path. */
  readonly server: string;
  /** Certificates in PEM that the server's is checked against; absent: those that the machine trusts. */
  readonly caPem?: string | undefined;
  /** The file that they were read from, absolute; for those who write a kubeconfig like this one. */
  readonly caFile?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  /** The name to ask the server for, and to find in its certificate, in place of its address. */
  readonly tlsServerName?: string | undefined;
  /** As the kubeconfig says it; for those who write one like it. */
  readonly proxyUrl?: string | undefined;
  /** What connections go through, whoever names it. */
  readonly proxy?: Proxy | undefined;
  /** Headers that ask the server to act for someone else: Impersonate-User and its like. */
  readonly impersonation?: Readonly<Record<string, string | string[]>> | undefined;
  readonly credentials: CredentialSource;
  /** Resolves when there are credentials to ask with, which requests wait for as long as it takes; absent: there are. */
  readonly ready?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** For messages: `kubeconfig /etc/kubernetes/kubelet.conf, context "lab", user "node"`. */
  readonly origin: string;
}

/** Credentials that never change. */
export function fixedCredentials(credentials: Credentials): CredentialSource {
  return { current: () => Promise.resolve(credentials), refused: () => false };
}
