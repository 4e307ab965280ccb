import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../base/json-object.ts';
import type { SandboxId } from '../../ports/container-runtime.ts';
import type { SandboxOwner } from '../../ports/sandbox-network.ts';

export interface LedgerEntry extends SandboxOwner {
  /** Every plugin's ADD worked. */
  readonly connected: boolean;
}

/**
 * The sandboxes that hold something of the network, a file each: written before the first plugin is called, removed after the last has given
 * everything back. Thus what a crash interrupts, or a sandbox that vanishes leaves behind, is known and given back.
 */
export class SandboxLedger {
  readonly #directory: string;
  /** As in the directory, which nobody else writes to. */
  #entries: Promise<Map<SandboxId, LedgerEntry>> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  entries(): Promise<ReadonlyMap<SandboxId, LedgerEntry>> {
    return this.#known();
  }

  async put(id: SandboxId, { name, namespace, connected }: LedgerEntry): Promise<void> {
    const entries = await this.#known();
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await writeFile(join(this.#directory, id), JSON.stringify({ name, namespace, connected }), { mode: 0o600 });
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
    const ids = await readdir(this.#directory).catch(() => []);
    return new Map(await Promise.all(ids.map(async (id) => [id as SandboxId, await this.#entry(id)] as const)));
  }

  /** A file that was cut off still says that the sandbox holds something. */
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
