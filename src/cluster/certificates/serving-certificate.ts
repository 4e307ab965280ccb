import { randomBytes } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { map } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Service } from '../../base/service.ts';
import type { NodeAddress } from '../../model/node.ts';
import { notUsable } from '../../options/file-fault.ts';
import type { ServingCertificate } from '../../ports/serving-certificate.ts';
import type { Staged } from '../../ports/staged.ts';
import { servingPurpose } from './certificate-purpose.ts';
import { type CertificateHappenings, CertificateRotation } from './certificate-rotation.ts';
import { CertificateStore } from './certificate-store.ts';
import type { CsrClients } from './csr-client.ts';
import { selfSignedCertificate } from './self-signed-certificate.ts';
import { ServingFiles } from './serving-files.ts';
import { selfSignedSubject, servingSubject } from './serving-subject.ts';
import { writePrivateFile } from '../../base/write-private-file.ts';

export interface ServingCertificateOptions {
  readonly certDir: string;
  /** Empty: none. */
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  readonly rotateServerCertificates: boolean;
}

export interface ServingCertificateDeps {
  readonly options: ServingCertificateOptions;
  readonly nodeName: string;
  /** The node's, as far as they are known. */
  readonly addresses: () => readonly NodeAddress[];
  /** Who asks the cluster; undefined without one. */
  readonly clients: (() => CsrClients) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tell: CertificateHappenings;
  /** 0 to 1 */
  readonly random: () => number;
}

/** Where the server's certificate comes from: the cluster, given files, or this node itself, as the kubelet chooses. To be run before the server. */
export function servingCertificate(deps: ServingCertificateDeps): ServingCertificate & Service & Pick<Staged, 'ready'> {
  const { options, clients, clock, log } = deps;
  const { rotateServerCertificates, tlsCertFile, tlsPrivateKeyFile } = options;
  if (rotateServerCertificates && clients) return fromCluster(deps, clients);
  if (rotateServerCertificates)
    log.warn('there is no cluster to ask for a serving certificate: --rotate-server-certificates has no effect');
  if (tlsCertFile !== '')
    return new ServingFiles({ certificateFile: tlsCertFile, keyFile: tlsPrivateKeyFile, renew: undefined, clock, log });
  return selfSigned(deps);
}

function fromCluster(
  { options, nodeName, addresses, clock, log, tell, random }: ServingCertificateDeps,
  clients: () => CsrClients,
): ServingCertificate & Service {
  const store = new CertificateStore(options.certDir, clock, servingPurpose);
  const rotation = new CertificateRotation({
    find: () => store.current(),
    renewal: { store, nodeName, subject: () => servingSubject(nodeName, addresses()), own: clients, bootstrap: undefined },
    purpose: servingPurpose,
    clock,
    log,
    tell,
    random,
  });
  const pairs = rotation.identities.pipe(map(({ certificatePem, keyPem }) => ({ certificatePem, keyPem })));
  return { name: 'serving certificate', pairs, run: (signal) => rotation.run(signal) };
}

/** kubelet.crt and kubelet.key in --cert-dir: those that are there, while they serve. */
function selfSigned({ options, nodeName, addresses, clock, log }: ServingCertificateDeps): ServingFiles {
  const certificateFile = join(options.certDir, 'kubelet.crt');
  const keyFile = join(options.certDir, 'kubelet.key');
  const renew = async (because: string): Promise<void> => {
    const nowMs = clock.now();
    const { certificatePem, keyPem } = selfSignedCertificate({
      subject: selfSignedSubject(nodeName, addresses(), nowMs),
      nowMs,
      serial: randomBytes(15),
    });
    try {
      await writePrivateFile(keyFile, keyPem);
      await writePrivateFile(certificateFile, certificatePem);
      // For those who want to check it.
      await chmod(certificateFile, 0o644);
    } catch (cause) {
      throw new Error(`${notUsable.certDir(options.certDir)} (--cert-dir names another place)`, { cause });
    }
    log.info('self-signed serving certificate created', { certificate: certificateFile, because });
  };
  return new ServingFiles({ certificateFile, keyFile, renew, clock, log });
}
