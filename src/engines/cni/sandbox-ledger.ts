import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../base/json-object.ts';
import { makeDirectory } from '../../base/make-directory.ts';
import { UNFINISHED, writePrivateFile } from '../../base/write-private-file.ts';
import type { SandboxId } from '../../ports/container-runtime.ts';
import type { SandboxOwner } from '../../ports/sandbox-network.ts';

export interface LedgerEntry extends SandboxOwner {
  /** Every plugin's ADD worked. */
  readonly connected: boolean;
}

/**
 * The sandboxes that hold something of the network, a file each: written before the first plugin is called, removed after the last has
 * released everything. Thus what a crash interrupts, or a sandbox that vanishes leaves behind, is known and released.
 */
export class SandboxLedger {
  readonly #directory: string;
  /** As in the directory, which nothing else writes to. */
  #entries: Promise<Map<SandboxId, LedgerEntry>> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  entries(): Promise<ReadonlyMap<SandboxId, LedgerEntry>> {
    return this.#known();
  }

  async put(id: SandboxId, { name, namespace, connected }: LedgerEntry): Promise<void> {
    const entries = await this.#known();
    await makeDirectory(this.#directory, 0o700);
    await writePrivateFile(join(this.#directory, id), JSON.stringify({ name, namespace, connected }));
    entries.set(id, { name, namespace, connected });
  }

  async remove(id: SandboxId): Promise<void> {
    const entries = await this.#known();
    await rm(join(this.#directory, id), { force: true });
    entries.delete(id);
  }

  #known(): Promise<Map<SandboxId, LedgerEntry>> {
    this.#entries ??= this.#read();
    return this.#entries;
  }

  async #read(): Promise<Map<SandboxId, LedgerEntry>> {
    const names = await readdir(this.#directory).catch(() => []);
    // What a crash left of a first write tells nothing: the plugins come after it.
    const ids = names.filter((name) => !name.endsWith(UNFINISHED));
    return new Map(await Promise.all(ids.map(async (id) => [id as SandboxId, await this.#entry(id)] as const)));
  }

  /** A file of no use, which versions before left where they were cut off, still says that the sandbox holds something. */
  async #entry(id: string): Promise<LedgerEntry> {
    let value: unknown;
    try {
      value = JSON.parse(await readFile(join(this.#directory, id), 'utf8'));
    } catch {
      value = undefined;
    }
    const { name, namespace, connected } = isJsonObject(value) ? value : {};
    const text = (part: unknown): string => (typeof part === 'string' ? part : '');
    return { name: text(name), namespace: text(namespace), connected: connected === true };
  }
}
