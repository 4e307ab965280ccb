import type { KeyObject } from 'node:crypto';
import { type ClientIdentity, parseClientIdentity } from '../../src/cluster/certificates/client-identity.ts';
import { aKey } from '../builders/a-client-certificate.ts';

/** --cert-dir without a disk. */
export class MemoryCertificateStore {
  readonly currentPath = '/pki/kubelet-client-current.pem';
  identity: ClientIdentity | undefined;
  pending: KeyObject | undefined;
  /** What `current` rejects with. */
  broken: Error | undefined;

  async current(): Promise<ClientIdentity | undefined> {
    if (this.broken) throw this.broken;
    return this.identity;
  }

  async update(certificatePem: string, keyPem: string): Promise<ClientIdentity> {
    return (this.identity = parseClientIdentity({ text: certificatePem, where: 'certificate' }, { text: keyPem, where: 'key' }));
  }

  async pendingKey(): Promise<KeyObject> {
    return (this.pending ??= aKey());
  }

  async dropPendingKey(): Promise<void> {
    this.pending = undefined;
  }
}
