import { inTime } from '../../builders/in-time.ts';

/** How long anything that a test waits for may take. The engine shares the machine with others. */
const PATIENCE_MS = 60_000;
/** And how long telling what it found instead. An engine that hangs tells nothing. */
const STORY_WITHIN_MS = 10_000;

export type Found<T> = T | undefined | false;

/** "Something may have changed": what waits for a condition looks again. */
export class Changes {
  readonly #waiting = new Set<() => void>();

  tell(): void {
    for (const changed of this.#waiting) changed();
  }

  /** Resolves with what `look` finds, as soon as that is something else than undefined or false. `seen` explains a failure. */
  until<T>(what: string, look: () => Found<T> | Promise<Found<T>>, seen: () => Promise<string>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let looking = false;
      let stale = false;
      const settle = (how: () => void): void => {
        clearTimeout(timer);
        this.#waiting.delete(changed);
        how();
      };
      const tooLate = async (): Promise<void> => {
        const story = await inTime(STORY_WITHIN_MS, 'looking at the engine', seen()).catch(String);
        settle(() => reject(new Error(`waited ${PATIENCE_MS / 1000} s for: ${what}\n${story}`)));
      };
      const lookAgain = async (): Promise<void> => {
        looking = true;
        try {
          do {
            stale = false;
            const found = await look();
            if (found !== undefined && found !== false) settle(() => resolve(found));
          } while (stale && this.#waiting.has(changed));
        } catch (error) {
          settle(() => reject(error instanceof Error ? error : new Error(String(error))));
        }
        looking = false;
      };
      const changed = (): void => {
        if (looking) stale = true;
        else void lookAgain();
      };
      const timer = setTimeout(() => void tooLate(), PATIENCE_MS);
      this.#waiting.add(changed);
      changed();
    });
  }
}
