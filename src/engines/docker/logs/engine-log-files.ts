import { join } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { type JsonObject } from '../../../base/json-object.ts';
import type { Dialect } from '../client/dialect.ts';
import type { EngineClient } from '../client/engine-client.ts';

/** So long may a daemon's restart with another data directory go unnoticed. */
const FRESH_MS = 300_000;

/**
 * Where the engine keeps containers' logs. An inspection would tell too, but only after the start, and this costs the start nothing:
 * the engine's data directory and log driver are asked for once in a while.
 */
export class EngineLogFiles {
  readonly #client: EngineClient;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #root: { readonly fileOf: ((id: string) => string) | undefined; readonly atMs: number } | undefined;
  #asking: Promise<void> | undefined;

  constructor(client: EngineClient, clock: Pick<Clock, 'monotonicMs'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Whether the engine has answered: `locate` then answers at once. */
  get known(): boolean {
    return this.#root !== undefined;
  }

  /** How to name the log file of a container, given its id; undefined when the engine keeps no such files or does not say. Never rejects. */
  async locate(): Promise<((id: string) => string) | undefined> {
    if (this.#root !== undefined && this.#clock.monotonicMs() - this.#root.atMs >= FRESH_MS) this.#root = undefined;
    // One question for all that are starting now: none of them aborts it.
    if (this.#root === undefined) await (this.#asking ??= this.#ask());
    return this.#root?.fileOf;
  }

  async #ask(): Promise<void> {
    const client = this.#client;
    try {
      const { signal } = new AbortController();
      const { logs } = await client.dialect(signal);
      const info = await client.about('info', signal);
      this.#root = { fileOf: logFiles(info, logs), atMs: this.#clock.monotonicMs() };
    } catch {
      // The start says what is wrong with the engine.
    } finally {
      this.#asking = undefined;
    }
  }
}

function logFiles(info: JsonObject, { driver, file }: Dialect['logs']): ((id: string) => string) | undefined {
  const { DockerRootDir: root, LoggingDriver: ownDriver, Driver: storage } = info;
  if (typeof root !== 'string' || (driver === undefined && ownDriver !== 'json-file')) return undefined;
  return (id) => join(root, file(String(storage), id));
}
