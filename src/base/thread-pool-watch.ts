import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { Clock } from './clock.ts';
import type { Service } from './service.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface ThreadPoolWatchDeps {
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  /** Resolves once a thread of the pool has done next to nothing. Another one is for tests. */
  readonly ask?: () => Promise<unknown>;
}

const ASK_MS = 10_000;
/** A slow disk with much to do takes seconds; what takes longer does not come back by itself. */
const FROZEN_MS = 30_000;

const random = promisify(randomBytes);

/**
 * Whether the threads that make this process's calls of file systems still take work: when all of them hang, whatever needs a file waits, while
 * everything else looks well.
 */
export class ThreadPoolWatch implements Service {
  readonly name = 'thread pool watch';
  readonly #clock: ThreadPoolWatchDeps['clock'];
  readonly #ask: () => Promise<unknown>;
  #askedAtMs: number | undefined;

  constructor({ clock, ask = () => random(1) }: ThreadPoolWatchDeps) {
    this.#clock = clock;
    this.#ask = ask;
  }

  /** Undefined: it works. */
  fault(): string | undefined {
    if (this.#askedAtMs === undefined) return undefined;
    const waitedMs = this.#clock.monotonicMs() - this.#askedAtMs;
    if (waitedMs < FROZEN_MS) return undefined;
    return `no thread for calls of file systems has been free for ${Math.floor(waitedMs / 1000)} s: they hang on a disk of the agent's own that does not answer`;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#askedAtMs = this.#clock.monotonicMs();
      await unlessAborted(this.#ask(), signal);
      this.#askedAtMs = undefined;
      await this.#clock.sleep(ASK_MS, signal);
    }
  }
}
