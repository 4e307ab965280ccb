import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxId } from '../../ports/container-runtime.ts';
import type { SandboxOwner } from '../../ports/sandbox-network.ts';
import { isJsonObject } from './json-object.ts';

/**
 * The sandboxes that hold something of the network, a file each: written before the first plugin is called, removed after the last has given
 * everything back. Thus what a crash interrupts, or a sandbox that vanishes leaves behind, is known and given back.
 */
export class SandboxLedger {
  readonly #directory: string;
  /** As in the directory, which nobody else writes to. */
  #owners: Promise<Map<SandboxId, SandboxOwner>> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** By sandbox, what is known of its pod. */
  owners(): Promise<ReadonlyMap<SandboxId, SandboxOwner>> {
    return this.#known();
  }

  async add(id: SandboxId, { name, namespace }: SandboxOwner): Promise<void> {
    const owners = await this.#known();
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await writeFile(join(this.#directory, id), JSON.stringify({ name, namespace }), { mode: 0o600 });
    owners.set(id, { name, namespace });
  }

  async remove(id: SandboxId): Promise<void> {
    const owners = await this.#known();
    await rm(join(this.#directory, id), { force: true });
    owners.delete(id);
  }

  #known(): Promise<Map<SandboxId, SandboxOwner>> {
    this.#owners ??= this.#read();
    return this.#owners;
  }

  async #read(): Promise<Map<SandboxId, SandboxOwner>> {
    const ids = await readdir(this.#directory).catch(() => []);
    return new Map(await Promise.all(ids.map(async (id) => [id as SandboxId, await this.#owner(id)] as const)));
  }

  /** A file that was cut off still says that the sandbox holds something. */
  async #owner(id: string): Promise<SandboxOwner> {
    let value: unknown;
    try {
      value = JSON.parse(await readFile(join(this.#directory, id), 'utf8'));
    } catch {
      value = undefined;
    }
    const { name, namespace } = isJsonObject(value) ? value : {};
    return { name: typeof name === 'string' ? name : '', namespace: typeof namespace === 'string' ? namespace : '' };
  }
}
