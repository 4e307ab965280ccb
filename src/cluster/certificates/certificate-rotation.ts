import { type Observable, ReplaySubject } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import { exponential } from '../../base/exponential.ts';
import type { Logger } from '../../base/logger.ts';
import { isSamePair } from '../../base/pem-pair.ts';
import type { Service } from '../../base/service.ts';
import { formatTime } from '../../model/time.ts';
import type { Happenings } from '../../ports/happenings.ts';
import type { CertificatePurpose } from './certificate-purpose.ts';
import { type CertificateSubject, nodeSubject } from './certificate-request.ts';
import type { ClientIdentity } from './client-identity.ts';
import type { CsrClients } from './csr-client.ts';
import { obtainCertificate, type ObtainCertificateDeps } from './obtain-certificate.ts';
import { decideRotation, type Expiry, expiryOf, renewalDelayMs } from './rotation-decision.ts';

export interface CertificateRenewal {
  readonly store: ObtainCertificateDeps['store'];
  readonly nodeName: string;
  /** Undefined: it is not known yet whom the certificate has to name. */
  readonly subject: () => CertificateSubject | undefined;
  /** Clients with whatever credentials the agent has now. */
  readonly own: () => CsrClients;
  /** Clients with the credentials of --bootstrap-kubeconfig, for when the node's own certificate is of no use any more; undefined: there are none. */
  readonly bootstrap: (() => Promise<CsrClients>) | undefined;
}

/** Called only for a certificate that is renewed here. */
export type CertificateHappenings = Pick<Happenings, 'certificateInUse' | 'certificateRenewed' | 'certificateRenewFailed'>;

export interface CertificateRotationDeps {
  /** Looks at the disk afresh. */
  readonly find: () => Promise<ClientIdentity | undefined>;
  /** Undefined with --rotate-certificates=false: the files are replaced from outside. */
  readonly renewal: CertificateRenewal | undefined;
  readonly purpose: CertificatePurpose;
  readonly tell: CertificateHappenings;
  readonly clock: Clock;
  readonly log: Logger;
  /** 0 to 1 */
  readonly random: () => number;
}

const LOOK_EVERY_MS = 60_000;
const LEAST_BETWEEN_RENEWALS_MS = 10_000;
/** A signer may issue what is due again at once, each time: where its clock and this one are far apart. */
const betweenRenewalsMs = exponential(LEAST_BETWEEN_RENEWALS_MS, 15 * 60_000);
/** How often an operator hears the same. */
const REMIND_EVERY_MS: Readonly<Record<Expiry, number>> = { expired: 5 * 60_000, soon: 60 * 60_000, far: 0 };

/**
 * Keeps the agent's certificate for one purpose good: takes up what changed on disk within a minute, asks for a new one in time, and says so
 * when it is about to expire or has. What cannot be read or renewed leaves the certificate in use as it is.
 */
export class CertificateRotation implements Service {
  readonly name: string;
  readonly #purpose: CertificatePurpose;
  readonly #deps: CertificateRotationDeps;
  readonly #identities = new ReplaySubject<ClientIdentity>(1);
  #current: ClientIdentity | undefined;
  /** Drawn for each certificate. */
  #chance: number;
  #unreadable = '';
  #remindedAtMs: Readonly<Partial<Record<Expiry, number>>> = {};

  constructor(deps: CertificateRotationDeps) {
    this.#deps = deps;
    this.#purpose = deps.purpose;
    this.name = `${this.#purpose.what} rotation`;
    this.#chance = deps.random();
  }

  /** The certificate in use, at once, and each one that takes its place: connections made with an older one are to be closed. */
  get identities(): Observable<ClientIdentity> {
    return this.#identities;
  }

  get current(): ClientIdentity | undefined {
    return this.#current;
  }

  /** Takes up what is on disk. Rejects with ClientCertificateError when that cannot be read. For the start; run does it by itself. */
  async load(): Promise<ClientIdentity | undefined> {
    const before = this.#current;
    const found = await this.#deps.find();
    // What was read while a new one took its place is the old one.
    if (found !== undefined && this.#current === before) this.#use(found);
    return this.#current;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { renewal } = this.#deps;
    try {
      await this.#look(signal);
      await Promise.all([this.#lookNowAndThen(signal), renewal && this.#renewInTime(renewal, signal)]);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #lookNowAndThen(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#deps.clock.sleep(LOOK_EVERY_MS, signal);
      await this.#look(signal);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    try {
      await this.load();
      this.#unreadable = '';
    } catch (error) {
      signal.throwIfAborted();
      const text = errorText(error);
      if (text !== this.#unreadable) this.#deps.log.error(`the ${this.#purpose.what} cannot be read`, { error });
      this.#unreadable = text;
    }
    this.#remind();
  }

  async #renewInTime(renewal: CertificateRenewal, signal: AbortSignal): Promise<void> {
    const { clock, log, random, tell } = this.#deps;
    let failures = 0;
    let renewals = 0;
    for (;;) {
      const subject = renewal.subject();
      if (subject === undefined) {
        await clock.sleep(LEAST_BETWEEN_RENEWALS_MS, signal);
        continue;
      }
      const { dueMs, because } = decideRotation(this.#current, subject, this.#chance);
      const inMs = dueMs - clock.now();
      if (inMs > 0) {
        renewals = 0;
        // Not longer: the file may change meanwhile, or the clock.
        await clock.sleep(Math.min(inMs, LOOK_EVERY_MS), signal);
        continue;
      }
      log.info(`renewing the ${this.#purpose.what}`, { because });
      try {
        const identity = await this.#renew(renewal, subject, signal);
        failures = 0;
        const before = this.#current;
        this.#use(identity);
        if (before !== undefined) tell.certificateRenewed({ use: this.#purpose.use, ageMs: clock.now() - before.notBeforeMs });
        await clock.sleep(betweenRenewalsMs(++renewals), signal);
      } catch (error) {
        signal.throwIfAborted();
        failures++;
        tell.certificateRenewFailed({ use: this.#purpose.use });
        const retryInMs = renewalDelayMs(error, failures, random);
        log.error(`cannot renew the ${this.#purpose.what}`, { error, retryInMs });
        await clock.sleep(retryInMs, signal);
      }
    }
  }

  async #renew(renewal: CertificateRenewal, subject: CertificateSubject, signal: AbortSignal): Promise<ClientIdentity> {
    const { clock, log } = this.#deps;
    const { store, own } = renewal;
    const bootstrap = await this.#bootstrapClients(renewal);
    try {
      return await obtainCertificate({ store, wanted: { subject, purpose: this.#purpose }, clock, log }, bootstrap ?? own(), signal);
    } finally {
      bootstrap?.api.closeConnections();
    }
  }

  /** Only where the own certificate does not open the door: none, expired, or another node's. */
  async #bootstrapClients({ nodeName, bootstrap }: CertificateRenewal): Promise<CsrClients | undefined> {
    const { clock, log } = this.#deps;
    const current = this.#current;
    const serves =
      current !== undefined && expiryOf(current, clock.now()) !== 'expired' && current.commonName === nodeSubject(nodeName).commonName;
    if (serves || bootstrap === undefined) return undefined;
    try {
      return await bootstrap();
    } catch (error) {
      log.warn('the bootstrap credentials cannot be used', { error });
      return undefined;
    }
  }

  #use(found: ClientIdentity): void {
    const before = this.#current;
    if (isSamePair(before, found)) return;
    this.#current = found;
    this.#chance = this.#deps.random();
    this.#remindedAtMs = {};
    if (before !== undefined) {
      this.#deps.log.info(`${this.#purpose.what} replaced`, { as: found.commonName, expires: formatTime(found.notAfterMs) });
    }
    const { renewal, tell } = this.#deps;
    if (renewal !== undefined) tell.certificateInUse({ use: this.#purpose.use, expiresAtMs: found.notAfterMs });
    this.#identities.next(found);
  }

  #remind(): void {
    const current = this.#current;
    if (current === undefined) return;
    const { clock, log, renewal } = this.#deps;
    const expiry = expiryOf(current, clock.now());
    const nowMs = clock.monotonicMs();
    const lastMs = this.#remindedAtMs[expiry] ?? Number.NEGATIVE_INFINITY;
    if (expiry === 'far' || nowMs - lastMs < REMIND_EVERY_MS[expiry]) return;
    this.#remindedAtMs = { [expiry]: nowMs };
    const advice = renewal ? 'being renewed' : `replace it: ${this.#purpose.flag} is off`;
    const fields = { as: current.commonName, expires: formatTime(current.notAfterMs), advice };
    if (expiry === 'expired') log.error(this.#purpose.expired, fields);
    else log.warn(`the ${this.#purpose.what} expires soon`, fields);
  }
}
