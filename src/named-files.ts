import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from './base/clock.ts';
import { silentLogger } from './base/logger.ts';
import { directoryMayBeMade, fileMayBeWritten, mayBeMadeIn } from './base/may-be-made.ts';
import { servingFileFaults } from './cluster/certificates/serving-files.ts';
import { featureGates } from './options/feature-gates/feature-gates.ts';
import { fileFault, type FileFault, notUsable } from './options/file-fault.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';
import { readClientCa } from './server/auth/client-ca.ts';

/** What options name together, and how it is looked at. */
interface NamedFiles {
  /** What is read. */
  readonly paths: readonly string[];
  readonly faults: () => Promise<readonly FileFault[]>;
}

/** Files of a server that is gone may never answer: a start goes on without them as far as it can. */
const ANSWERED_WITHIN_MS = 5_000;

/**
 * Why the agent would not start with the files and directories that its options name, all of them, found out by what the start reads them with.
 * Nothing is made, locked or said to a server. What does not answer in time, and a pipe, which gives what it has once, is no fault.
 */
export async function fileFaults(options: KubeletOptions, clock: Clock): Promise<readonly FileFault[]> {
  const answered = new AbortController();
  const late = clock.sleep(ANSWERED_WITHIN_MS, answered.signal).then(
    () => [],
    () => [],
  );
  const look = async ({ paths, faults }: NamedFiles): Promise<readonly FileFault[]> =>
    (await Promise.all(paths.map(isReadOnce))).includes(true) ? [] : faults();
  try {
    return (await Promise.all(namedFiles(options, clock).map((files) => Promise.race([look(files), late])))).flat();
  } finally {
    answered.abort();
  }
}

async function isReadOnce(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  return info !== undefined && (info.isFIFO() || info.isSocket() || info.isCharacterDevice());
}

/** Those that stop a start, under the same conditions. */
function namedFiles(options: KubeletOptions, clock: Clock): readonly NamedFiles[] {
  const { kubeconfig, bootstrapKubeconfig, rootDir, certDir, lockFile, recordFile } = options;
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, rotateServerCertificates } = options;
  const { imageCredentialProviderConfig: config, imageCredentialProviderBinDir: programs } = options;
  const inCluster = kubeconfig !== '';
  const serves = options.enableServer && !options.runOnce;
  const hasOwnCertificate = serves && !(rotateServerCertificates && inCluster);
  const files: NamedFiles[] = [place('rootDir', rootDir, directoryMayBeMade)];
  if (lockFile !== '') files.push(place('lockFile', lockFile, fileMayBeWritten));
  if (recordFile !== '') files.push(place('recordFile', recordFile, (path) => mayBeMadeIn(dirname(path))));
  if (inCluster) {
    files.push({
      paths: [kubeconfig, bootstrapKubeconfig],
      faults: async () => (await import('./cluster/api-cluster.ts')).kubeconfigFaults(options, { clock, log: silentLogger }),
    });
  }
  if (config !== '' && programs !== '') {
    const mayHaveTokens = featureGates(options.featureGates).isOn('KubeletServiceAccountTokenForCredentialProviders');
    files.push({
      paths: [config],
      faults: async () => {
        const { usableProviders } = await import('./images/providers/credential-providers.ts');
        return (await usableProviders({ path: config, directory: programs, mayHaveTokens })).faults;
      },
    });
  }
  if (hasOwnCertificate && tlsCertFile !== '' && tlsPrivateKeyFile !== '')
    files.push({ paths: [tlsCertFile, tlsPrivateKeyFile], faults: () => servingFileFaults(tlsCertFile, tlsPrivateKeyFile) });
  if (hasOwnCertificate && tlsCertFile === '') files.push(place('certDir', certDir, directoryMayBeMade));
  if (serves && clientCaFile !== '')
    files.push({ paths: [clientCaFile], faults: () => fileFault('clientCaFile', () => readClientCa(clientCaFile)) });
  return files;
}

/** Where something is to be made. */
const place = (option: keyof typeof notUsable, path: string, look: (path: string) => Promise<void>): NamedFiles => ({
  paths: [],
  faults: () =>
    fileFault(option, () =>
      look(path).catch((cause: unknown) => {
        throw new Error(notUsable[option](path), { cause });
      }),
    ),
});
