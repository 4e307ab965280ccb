import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { link, lstat, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorCode } from '../../base/error-code.ts';
import type { Clock } from '../../base/clock.ts';
import { formatTime } from '../../model/time.ts';
import { type CertificatePurpose, clientPurpose } from './certificate-purpose.ts';
import { ClientCertificateError, type ClientIdentity, parseClientIdentity, parsePrivateKey } from './client-identity.ts';
import { writePrivateFile } from '../../base/write-private-file.ts';

/**
 * Certificates of --cert-dir, laid out as the kubelet's file store does (client-go util/certificate/certificate_store.go):
 * `kubelet-client-current.pem` (or, of the server, `kubelet-server-current.pem`) links to `kubelet-client-DATE.pem`, which holds a certificate
 * and its key. Files are for their owner alone, and a reader of the link finds a whole pair at any moment.
 */
export class CertificateStore {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #directory: string;
  readonly #purpose: CertificatePurpose;
  /** What a kubeconfig refers to; absolute. */
  readonly currentPath: string;
  readonly #pendingKeyPath: string;

  constructor(directory: string, clock: Pick<Clock, 'now'>, purpose: CertificatePurpose = clientPurpose) {
    this.#clock = clock;
    this.#purpose = purpose;
    this.#directory = resolve(directory);
    this.currentPath = this.#path('current.pem');
    // The kubelet keeps the key of an unanswered request there, too.
    this.#pendingKeyPath = join(this.#directory, `${purpose.filePrefix}.key.tmp`);
  }

  /** The pair in use; undefined when there is none yet. Throws ClientCertificateError when what is there is of no use. */
  async current(): Promise<ClientIdentity | undefined> {
    await this.#finishSwap();
    const pair = await this.#read(this.currentPath);
    if (pair !== undefined) return parseClientIdentity({ text: pair, where: this.currentPath }, { text: pair, where: this.currentPath });
    // Before there was one file for both, there were two.
    const { filePrefix } = this.#purpose;
    const [certificatePath, keyPath] = [join(this.#directory, `${filePrefix}.crt`), join(this.#directory, `${filePrefix}.key`)];
    const [certificate, key] = await Promise.all([this.#read(certificatePath), this.#read(keyPath)]);
    if (certificate === undefined || key === undefined) return undefined;
    return parseClientIdentity({ text: certificate, where: certificatePath }, { text: key, where: keyPath });
  }

  /** Makes this pair the current one. Throws ClientCertificateError, leaving the current one, when they do not fit or cannot be written. */
  async update(certificatePem: string, keyPem: string): Promise<ClientIdentity> {
    const identity = parseClientIdentity({ text: certificatePem, where: 'the new certificate' }, { text: keyPem, where: 'its new key' });
    const stamp = formatTime(this.#clock.now()).replace(/[T:]/g, '-').replace('Z', '');
    try {
      const path = this.#path(`${stamp}.pem`);
      await writePrivateFile(path, identity.certificatePem + identity.keyPem);
      await this.#keepPlainFile(stamp);
      const updated = this.#path('updated.pem');
      await rm(updated, { force: true });
      await symlink(path, updated);
      await rename(updated, this.currentPath);
    } catch (cause) {
      throw new ClientCertificateError(`cannot store the new ${this.#purpose.what} in ${this.#directory}`, { cause });
    }
    return identity;
  }

  /** The key to ask a certificate for: that of the request under way, which outlives a restart, or a new one (ECDSA, P-256). */
  async pendingKey(): Promise<KeyObject> {
    const text = await this.#read(this.#pendingKeyPath);
    const kept = text === undefined ? undefined : ecKeyOf(text, this.#pendingKeyPath);
    if (kept !== undefined) return kept;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    try {
      await writePrivateFile(this.#pendingKeyPath, keyToPem(privateKey));
    } catch (cause) {
      throw new ClientCertificateError(`cannot keep a new private key in ${this.#directory}`, { cause });
    }
    return privateKey;
  }

  /** Succeeds when there is none. */
  async dropPendingKey(): Promise<void> {
    await rm(this.#pendingKeyPath, { force: true });
  }

  /** A kubelet that ended between its two steps left the new link under its first name. */
  async #finishSwap(): Promise<void> {
    const updated = this.#path('updated.pem');
    if ((await isLink(this.currentPath)) === undefined && (await isLink(updated)) === true) await rename(updated, this.currentPath);
  }

  /** A pair that was put in the link's place as a plain file is not lost when the link takes it. */
  async #keepPlainFile(stamp: string): Promise<void> {
    if ((await isLink(this.currentPath)) === false) await link(this.currentPath, this.#path(`replaced-${stamp}.pem`));
  }

  /** Undefined when there is no such file. */
  async #read(path: string): Promise<string | undefined> {
    try {
      return await readFile(path, 'utf8');
    } catch (cause) {
      if (errorCode(cause) !== 'ENOENT') throw new ClientCertificateError(`cannot read ${path}`, { cause });
      if ((await isLink(path)) !== true) return undefined;
      throw new ClientCertificateError(`${path} links to ${await readlink(path)}, which does not exist`, { cause });
    }
  }

  #path(end: string): string {
    return join(this.#directory, `${this.#purpose.filePrefix}-${end}`);
  }
}

export function keyToPem(key: KeyObject): string {
  return key.export({ type: 'sec1', format: 'pem' }).toString();
}

/** Undefined for anything else: a key that asked for nothing yet is no loss. */
function ecKeyOf(text: string, where: string): KeyObject | undefined {
  try {
    const { keyObject } = parsePrivateKey({ text, where });
    return keyObject.asymmetricKeyType === 'ec' ? keyObject : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined when there is nothing. */
async function isLink(path: string): Promise<boolean | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new ClientCertificateError(`cannot read ${path}`, { cause: error });
  }
}
