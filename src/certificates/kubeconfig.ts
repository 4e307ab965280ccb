import { readFile, realpath } from 'node:fs/promises';
import type { Cluster, User } from '@kubernetes/client-node';
import { ClientCertificateError, type ClientIdentity, parseClientIdentity, type PemText } from './client-identity.ts';
import { writePrivateFile } from './write-private-file.ts';

/** What the current context of a kubeconfig says, paths made absolute. */
export interface KubeconfigContext {
  readonly cluster: Readonly<Pick<Cluster, 'server' | 'caFile' | 'caData' | 'skipTLSVerify' | 'tlsServerName' | 'proxyUrl'>>;
  /** Whatever else it says, tokens and programs, is not for here. */
  readonly user: Readonly<Pick<User, 'certFile' | 'certData' | 'keyFile' | 'keyData'>>;
}

/** The certificate of a kubeconfig's user, read afresh; undefined for one without. Throws ClientCertificateError. */
export async function kubeconfigIdentity({ user }: KubeconfigContext, path: string): Promise<ClientIdentity | undefined> {
  const certificate = await material(user.certData, user.certFile, `client-certificate-data of ${path}`);
  const key = await material(user.keyData, user.keyFile, `client-key-data of ${path}`);
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined) throw new ClientCertificateError(`the user of ${path} has a client key and no client certificate`);
  if (key === undefined) throw new ClientCertificateError(`the user of ${path} has a client certificate and no client key`);
  return parseClientIdentity(certificate, key);
}

/** A kubeconfig whose user is the pair in one file, with the names that the kubelet writes (pkg/kubelet/certificate/bootstrap). */
export function kubeconfigText({ cluster }: Pick<KubeconfigContext, 'cluster'>, pairPath: string): string {
  const { server, caFile, caData, skipTLSVerify, tlsServerName, proxyUrl } = cluster;
  const clusterFields = {
    // As with client-go, data overrides a file.
    ...(caData ? { 'certificate-authority-data': caData } : caFile ? { 'certificate-authority': caFile } : {}),
    ...(skipTLSVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(proxyUrl ? { 'proxy-url': proxyUrl } : {}),
    server,
    ...(tlsServerName ? { 'tls-server-name': tlsServerName } : {}),
  };
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: default-cluster',
    '  cluster:',
    // JSON's strings are YAML's.
    ...Object.entries(clusterFields).map(([name, value]) => `    ${name}: ${JSON.stringify(value)}`),
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

/** Whole or not at all, for its owner alone; through a link, should the path be one. */
export async function writeKubeconfig(path: string, text: string): Promise<void> {
  try {
    await writePrivateFile(await realpath(path).catch(() => path), text);
  } catch (cause) {
    throw new ClientCertificateError(`cannot write the kubeconfig ${path}`, { cause });
  }
}

async function material(data: string | undefined, file: string | undefined, dataName: string): Promise<PemText | undefined> {
  if (data) return { text: Buffer.from(data, 'base64').toString(), where: dataName };
  if (!file) return undefined;
  try {
    return { text: await readFile(file, 'utf8'), where: file };
  } catch (cause) {
    throw new ClientCertificateError(`cannot read ${file}`, { cause });
  }
}
