/** A client certificate and its key, in PEM. */
export interface TlsIdentity {
  /** The certificate first, then what leads from it to the CA. */
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** Who the agent is to the API server. Both absent: nobody. */
export interface Credentials {
  readonly identity?: TlsIdentity;
  /** The Authorization header: "Bearer …", "Basic …". */
  readonly authorization?: string;
}

/** Where credentials come from. They may change at any time: asked before each request. */
export interface CredentialSource {
  /** The present ones; costs nothing while they are fresh. Rejects with an error for people, or the signal's reason. */
  current(signal: AbortSignal): Promise<Credentials>;
  /** The API server did not believe the last ones (401). Returns whether asking again may bring others. */
  refused(): boolean;
}

/** All that it takes to speak to one API server. */
export interface ClusterAccess {
  /** Without a slash at its end: "https://10.0.0.1:6443", perhaps with a path. */
  readonly server: string;
  /** Certificates in PEM that the server's is checked against; absent: those that the machine trusts. */
  readonly caPem?: string;
  /** The file that they were read from, absolute; for those who write a kubeconfig like this one. */
  readonly caFile?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** The name to ask the server for, and to find in its certificate, in place of its address. */
  readonly tlsServerName?: string;
  /** An http or https proxy to tunnel through. */
  readonly proxyUrl?: string;
  readonly credentials: CredentialSource;
  /** For messages: `kubeconfig /etc/kubernetes/kubelet.conf, context "lab", user "node"`. */
  readonly origin: string;
}

/** Credentials that never change. */
export function fixedCredentials(credentials: Credentials): CredentialSource {
  return { current: () => Promise.resolve(credentials), refused: () => false };
}

/** Whether both are the same certificate, or none. */
export function isSameIdentity(a: TlsIdentity | undefined, b: TlsIdentity | undefined): boolean {
  return a?.certificatePem === b?.certificatePem && a?.keyPem === b?.keyPem;
}
