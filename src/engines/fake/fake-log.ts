import type { Clock } from '../../base/clock.ts';
import type { LogPolicy } from '../../model/log-policy.ts';
import { logsInOrder, planLogRotation } from '../../model/log-rotation.ts';
import type { Written } from './fake-console.ts';

/** So much of what a container writes is kept, whatever the policy says. */
const MAX_LOG_BYTES = 1 << 20;
/** A log is looked at no more often (containerLogMonitorInterval): the names of files are no finer than a second. */
const LOOK_MS = 10_000;
const LOG = '0.log';

/** What a container has written, in files in memory, which are rotated by the kubelet's own rules. */
export class FakeLog {
  readonly #clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly #policy: LogPolicy | undefined;
  readonly #files = new Map<string, readonly Written[]>();
  #current: Written[] = [];
  #bytes = 0;
  #currentBytes = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'now' | 'monotonicMs'>, policy: LogPolicy | undefined) {
    this.#clock = clock;
    this.#policy = policy;
  }

  /** Oldest first. */
  get kept(): readonly Written[] {
    if (this.#files.size === 0) return this.#current;
    return logsInOrder(LOG, [...this.#files.keys()]).flatMap((name) => this.#files.get(name) ?? this.#current);
  }

  add(written: Written): void {
    this.#current.push(written);
    this.#bytes += written.bytes.length;
    this.#currentBytes += written.bytes.length;
    if (this.#policy && this.#currentBytes >= this.#policy.maxSizeBytes) this.#look(this.#policy.maxFiles);
    while (this.#bytes > MAX_LOG_BYTES) this.#dropOldest();
  }

  #look(maxFiles: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lookedMs < LOOK_MS) return;
    this.#lookedMs = nowMs;
    const { remove, compress, renameTo } = planLogRotation(LOG, [...this.#files.keys()], maxFiles, this.#clock.now());
    for (const name of remove) this.#take(name).forEach(({ bytes }) => (this.#bytes -= bytes.length));
    for (const name of compress) this.#files.set(`${name}.gz`, this.#take(name));
    this.#files.set(renameTo, this.#current);
    this.#current = [];
    this.#currentBytes = 0;
  }

  #take(name: string): readonly Written[] {
    const file = this.#files.get(name) ?? [];
    this.#files.delete(name);
    return file;
  }

  /** A whole file, or of the only one a write. */
  #dropOldest(): void {
    const [oldest] = logsInOrder(LOG, [...this.#files.keys()]);
    if (oldest !== undefined && oldest !== LOG) {
      this.#take(oldest).forEach(({ bytes }) => (this.#bytes -= bytes.length));
      return;
    }
    const bytes = this.#current.shift()?.bytes.length ?? 0;
    this.#bytes -= bytes;
    this.#currentBytes -= bytes;
  }
}
