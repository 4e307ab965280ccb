import { debounce, timer } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { coalesceMap } from '../base/coalesce-map.ts';
import { drainInto } from '../base/drain-into.ts';
import { isJsonObject } from '../base/json-object.ts';
import type { Logger } from '../base/logger.ts';
import { type StateFile, type StateFiles, versioned } from '../ports/state-files.ts';
import type { PassedProbes, ProbeResults } from './probe-results.ts';

const SAVE_AFTER_MS = 200;

/**
 * Which containers have passed their probes, kept in a file, so that a pod that is ready stays ready while the agent is restarted. What is
 * lost or broken costs a pod its readiness until the next probe, and nothing else.
 */
export class PassedProbesFile {
  readonly #file: StateFile<PassedProbes>;
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(files: StateFiles, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#file = files.open('passed_probes.json', versioned(1, decode));
    this.#clock = clock;
    this.#log = log;
  }

  load(): PassedProbes {
    return this.#file.load() ?? { readiness: [], startup: [] };
  }

  /** Saves what changes until `signal` aborts, and once more then. */
  async follow(results: ProbeResults, signal: AbortSignal): Promise<void> {
    const save = (): Promise<void> =>
      this.#file.save(results.passed()).catch((error: unknown) => this.#log.warn('results of probes not saved', { error }));
    const saves = results.touched.pipe(
      debounce(() => timer(SAVE_AFTER_MS, this.#clock)),
      coalesceMap(save),
    );
    await drainInto(saves, () => {}, signal);
    await save();
  }
}

const decode = (json: unknown): PassedProbes | undefined =>
  isJsonObject(json) ? { readiness: idsIn(json['readiness']), startup: idsIn(json['startup']) } : undefined;

const idsIn = (ids: unknown): readonly string[] => (Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []);
