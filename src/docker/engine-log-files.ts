import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { EngineClient } from './engine-client.ts';

/** So long may a daemon's restart with another data directory go unnoticed. */
const FRESH_MS = 300_000;

/**
 * Where the engine keeps containers' logs. An inspection would tell too, but only after the start, and this costs the start nothing:
 * the engine's data directory and log driver are asked for once in a while.
 */
export class EngineLogFiles {
  readonly #client: EngineClient;
  readonly #clock: Pick<Clock, 'now'>;
  #known: { readonly root: string | undefined; readonly atMs: number } | undefined;

  constructor(client: EngineClient, clock: Pick<Clock, 'now'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** How to name the log file of a container, given its id; undefined when the engine keeps no such files or does not say. Never rejects. */
  async locate(signal: AbortSignal): Promise<((id: string) => string) | undefined> {
    const nowMs = this.#clock.now();
    if (this.#known === undefined || nowMs - this.#known.atMs >= FRESH_MS) {
      try {
        this.#known = { root: await this.#ask(signal), atMs: nowMs };
      } catch {
        return undefined;
      }
    }
    const { root } = this.#known;
    return root === undefined ? undefined : (id) => join(root, 'containers', id, `${id}-json.log`);
  }

  async #ask(signal: AbortSignal): Promise<string | undefined> {
    const client = this.#client;
    const info: unknown = await client.call('GET /info', client.requestTimeoutMs, signal, (docker) => docker.info());
    if (typeof info !== 'object' || info === null || !('DockerRootDir' in info) || !('LoggingDriver' in info)) return undefined;
    const { DockerRootDir, LoggingDriver } = info;
    return LoggingDriver === 'json-file' && typeof DockerRootDir === 'string' ? DockerRootDir : undefined;
  }
}
