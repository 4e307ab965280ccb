import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { BehaviorSubject, type Observable } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import type { Logger } from '../../base/logger.ts';

/** Certificate authorities whose clients are let in. */
export interface ClientCaBundle {
  readonly pem: string;
  readonly certificates: readonly X509Certificate[];
}

/** Throws, naming the file, when there is no certificate in it. */
export function parseClientCa(pem: string, path: string): ClientCaBundle {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error(`there is no certificate in ${path}`);
  try {
    return { pem: blocks.join('\n'), certificates: blocks.map((block) => new X509Certificate(block)) };
  } catch (cause) {
    throw new Error(`${path} cannot be read as certificates`, { cause });
  }
}

/** The kubelet looks as often (apiserver server/dynamiccertificates FileRefreshDuration). */
const LOOK_EVERY_MS = 60_000;

/** --client-ca-file, read again when it changes. What cannot be read leaves the last bundle in use. */
export class ClientCaFile {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #bundles: BehaviorSubject<ClientCaBundle>;

  #sinceMs = Number.NEGATIVE_INFINITY;

  private constructor(path: string, bundle: ClientCaBundle, clock: Clock, log: Logger) {
    this.#path = path;
    this.#clock = clock;
    this.#log = log;
    this.#bundles = new BehaviorSubject(bundle);
  }

  /** Rejects, with words for the user, when there is nothing to begin with. */
  static async open(path: string, clock: Clock, log: Logger): Promise<ClientCaFile> {
    const bundle = await readClientCa(path).catch((cause: unknown) => {
      throw new Error('--client-ca-file', { cause });
    });
    return new ClientCaFile(path, bundle, clock, log);
  }

  /** Since when `current` is what it is, on the clock's monotonic time; from the beginning: minus infinity. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  get current(): ClientCaBundle {
    return this.#bundles.value;
  }

  /** The bundle at hand, and each that takes its place. */
  get bundles(): Observable<ClientCaBundle> {
    return this.#bundles;
  }

  /** Looks until `signal` aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    let unreadable = '';
    while (!signal.aborted) {
      await this.#clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      try {
        const bundle = await readClientCa(this.#path);
        unreadable = '';
        if (bundle.pem === this.current.pem) continue;
        this.#log.info('client certificate authorities loaded', { file: this.#path, certificates: bundle.certificates.length });
        this.#sinceMs = this.#clock.monotonicMs();
        this.#bundles.next(bundle);
      } catch (error) {
        if (errorText(error) !== unreadable)
          this.#log.error('client certificate authorities not loaded, keeping the previous ones', { error });
        unreadable = errorText(error);
      }
    }
  }
}

/** Rejects, naming the file, where it cannot be read or holds no certificate. */
export async function readClientCa(path: string): Promise<ClientCaBundle> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new Error(`cannot read ${path}`, { cause });
  }
  return parseClientCa(text, path);
}
