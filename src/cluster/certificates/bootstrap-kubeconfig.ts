import { realpath } from 'node:fs/promises';
import { ClientCertificateError } from './client-identity.ts';
import { writePrivateFile } from '../../base/write-private-file.ts';

/** The API server as a kubeconfig describes it. */
export interface KubeconfigCluster {
  readonly server: string;
  /** Absolute. Where the CA is a file of its own, it stays one, so that it may be replaced. */
  readonly caFile?: string | undefined;
  /** Instead. Neither: those that the machine trusts. */
  readonly caPem?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly tlsServerName?: string | undefined;
  readonly proxyUrl?: string | undefined;
}

/** A kubeconfig whose user is the pair in one file, with the names that the kubelet writes (pkg/kubelet/certificate/bootstrap). */
export function kubeconfigText(cluster: KubeconfigCluster, pairPath: string): string {
  const { server, caFile, caPem, insecureSkipTlsVerify, tlsServerName, proxyUrl } = cluster;
  const fields: readonly (readonly [string, string | boolean | undefined])[] = [
    ['certificate-authority', caFile],
    ['certificate-authority-data', caFile === undefined && caPem !== undefined ? Buffer.from(caPem).toString('base64') : undefined],
    ['insecure-skip-tls-verify', insecureSkipTlsVerify === true ? true : undefined],
    ['proxy-url', proxyUrl],
    ['server', server],
    ['tls-server-name', tlsServerName],
  ];
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: default-cluster',
    '  cluster:',
    // JSON's strings are YAML's.
    ...fields.flatMap(([name, value]) => (value === undefined ? [] : [`    ${name}: ${JSON.stringify(value)}`])),
    'contexts:',
    '- name: default-context',
    '  context:',
    '    cluster: default-cluster',
    '    namespace: default',
    '    user: default-auth',
    'current-context: default-context',
    'users:',
    '- name: default-auth',
    '  user:',
    `    client-certificate: ${JSON.stringify(pairPath)}`,
    `    client-key: ${JSON.stringify(pairPath)}`,
    '',
  ].join('\n');
}

/** Whole or not at all, for its owner alone; through a link, should the path be one. Throws ClientCertificateError. */
export async function writeKubeconfig(path: string, text: string): Promise<void> {
  try {
    await writePrivateFile(await realpath(path).catch(() => path), text);
  } catch (cause) {
    throw new ClientCertificateError(`cannot write the kubeconfig ${path}`, { cause });
  }
}
