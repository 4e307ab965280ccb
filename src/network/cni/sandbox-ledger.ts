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

  constructor(directory: string) {
    this.#directory = directory;
  }

  async add(id: SandboxId, { name, namespace }: SandboxOwner): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await writeFile(join(this.#directory, id), JSON.stringify({ name, namespace }), { mode: 0o600 });
  }

  /** Undefined when the sandbox holds nothing. A file that was cut off still says that it does. */
  async owner(id: SandboxId): Promise<SandboxOwner | undefined> {
    const text = await readFile(join(this.#directory, id), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      value = undefined;
    }
    const { name, namespace } = isJsonObject(value) ? value : {};
    return { name: typeof name === 'string' ? name : '', namespace: typeof namespace === 'string' ? namespace : '' };
  }

  async list(): Promise<readonly SandboxId[]> {
    return (await readdir(this.#directory).catch(() => [])).map((name) => name as SandboxId);
  }

  async remove(id: SandboxId): Promise<void> {
    await rm(join(this.#directory, id), { force: true });
  }
}
