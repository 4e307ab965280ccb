import { readFile } from 'node:fs/promises';
import { type Observable, ReplaySubject } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import { isSamePair } from '../../base/pem-pair.ts';
import { errorText } from '../../base/error-text.ts';
import type { Logger } from '../../base/logger.ts';
import type { Service } from '../../base/service.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import { formatTime } from '../../model/time.ts';
import type { ServingCertificate, ServingPair } from '../../ports/serving-certificate.ts';
import { fileFault, type FileFault } from '../../options/file-fault.ts';
import { type ClientIdentity, parseCertificate, parseClientIdentity, parsePrivateKey, type PemText } from './client-identity.ts';
import { expiryOf } from './rotation-decision.ts';

export interface ServingFilesDeps {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Makes the files again where they are missing, of no use or about to expire. Undefined: they are not the agent's. */
  readonly renew: ((because: string) => Promise<void>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

const LOOK_EVERY_MS = 10_000;

/** A serving certificate in two files, read again when they change. What cannot be read leaves the last one in use. */
export class ServingFiles implements Service, ServingCertificate {
  readonly name = 'serving certificate';
  readonly #deps: ServingFilesDeps;
  readonly #pairs = new ReplaySubject<ServingPair>(1);
  readonly #first = Promise.withResolvers<void>();
  #current: ClientIdentity | undefined;
  /** What the files say, as they were read last: mostly they are as they were. */
  #parsed: { readonly certificate: string; readonly key: string; readonly identity: ClientIdentity } | undefined;
  #trouble = '';

  constructor(deps: ServingFilesDeps) {
    this.#deps = deps;
  }

  get pairs(): Observable<ServingPair> {
    return this.#pairs;
  }

  /** Resolves once there is a pair. */
  ready(signal: AbortSignal): Promise<void> {
    return unlessAborted(this.#first.promise, signal);
  }

  /** Rejects, with words for the user, when there is nothing to begin with. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#look();
    this.#first.resolve();
    while (!signal.aborted) {
      await this.#deps.clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.#look();
      } catch (error) {
        this.#tell(errorText(error), () => this.#deps.log.error('the serving certificate stays as it was', { error }));
      }
    }
  }

  async #look(): Promise<void> {
    const { renew, clock, log } = this.#deps;
    let found: ClientIdentity;
    try {
      found = await this.#read();
    } catch (error) {
      if (renew === undefined) throw error;
      await renew(errorText(error));
      found = await this.#read();
    }
    if (renew !== undefined && expiryOf(found, clock.now()) !== 'far') {
      await renew(`it expires at ${formatTime(found.notAfterMs)}`);
      found = await this.#read();
    }
    if (expiryOf(found, clock.now()) === 'expired') {
      this.#tell('expired', () => log.error('the serving certificate has expired', { expires: formatTime(found.notAfterMs) }));
    } else {
      this.#trouble = '';
    }
    if (isSamePair(this.#current, found)) return;
    if (this.#current !== undefined) log.info('serving certificate replaced', { expires: formatTime(found.notAfterMs) });
    this.#current = found;
    this.#pairs.next({ certificatePem: found.certificatePem, keyPem: found.keyPem });
  }

  /** Once, until it changes. */
  #tell(trouble: string, log: () => void): void {
    if (trouble !== this.#trouble) log();
    this.#trouble = trouble;
  }

  async #read(): Promise<ClientIdentity> {
    const { certificateFile, keyFile } = this.#deps;
    // One after the other: where both are missing, the fault is the same each time.
    const certificate = await readText(certificateFile);
    const key = await readText(keyFile);
    if (this.#parsed?.certificate === certificate && this.#parsed.key === key) return this.#parsed.identity;
    const identity = parseClientIdentity({ text: certificate, where: certificateFile }, { text: key, where: keyFile });
    this.#parsed = { certificate, key, identity };
    return identity;
  }
}

/** Why a serving certificate that is given in files cannot be used. */
export async function servingFileFaults(certificateFile: string, keyFile: string): Promise<readonly FileFault[]> {
  const read = async (where: string): Promise<PemText> => ({ text: await readText(where), where });
  const faults = [
    ...(await fileFault('tlsCertFile', async () => parseCertificate(await read(certificateFile)))),
    ...(await fileFault('tlsPrivateKeyFile', async () => parsePrivateKey(await read(keyFile)))),
  ];
  if (faults.length > 0) return faults;
  return fileFault('tlsPrivateKeyFile', async () => parseClientIdentity(await read(certificateFile), await read(keyFile)));
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Error(`cannot read ${path}`, { cause });
  }
}
