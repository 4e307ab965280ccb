import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { debounce, timer } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { isMissingFile } from '../base/error-code.ts';
import { coalesceMap } from '../base/coalesce-map.ts';
import { drainInto } from '../base/drain-into.ts';
import type { Logger } from '../base/logger.ts';
import type { PassedProbes, ProbeResults } from './probe-results.ts';

const SAVE_AFTER_MS = 200;

/**
 * Which containers have passed their probes, kept in a file, so that a pod that is ready stays ready while the agent is restarted. What is
 * lost or broken costs a pod its readiness until the next probe, and nothing else.
 */
export class PassedProbesFile {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(path: string, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#path = path;
    this.#clock = clock;
    this.#log = log;
  }

  load(): PassedProbes {
    try {
      const content: unknown = JSON.parse(readFileSync(this.#path, 'utf8'));
      return { readiness: idsIn(content, 'readiness'), startup: idsIn(content, 'startup') };
    } catch (error) {
      if (!isMissingFile(error)) this.#log.warn('results of probes from before cannot be read', { path: this.#path, error });
      return { readiness: [], startup: [] };
    }
  }

  /** Saves what changes until `signal` aborts, and once more then. */
  async follow(results: ProbeResults, signal: AbortSignal): Promise<void> {
    const save = (): Promise<void> => this.#save(results.passed());
    const saves = results.touched.pipe(
      debounce(() => timer(SAVE_AFTER_MS, this.#clock)),
      coalesceMap(save),
    );
    await drainInto(saves, () => {}, signal);
    await save();
  }

  async #save(passed: PassedProbes): Promise<void> {
    const temporary = `${this.#path}.new`;
    try {
      await writeFile(temporary, JSON.stringify(passed), { mode: 0o600 });
      await rename(temporary, this.#path);
    } catch (error) {
      this.#log.warn('cannot save results of probes', { path: this.#path, error });
    }
  }
}

function idsIn(content: unknown, name: keyof PassedProbes): readonly string[] {
  const ids: unknown = typeof content === 'object' && content !== null ? Reflect.get(content, name) : undefined;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}
