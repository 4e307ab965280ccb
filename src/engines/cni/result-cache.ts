import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../base/json-object.ts';
import { makeDirectory } from '../../base/make-directory.ts';
import { writePrivateFile } from '../../base/write-private-file.ts';

/** The interface inside a pod's sandbox (pkg/kubelet/dockershim/network DefaultInterfaceName). */
export const INTERFACE = 'eth0';
const KIND = 'cniCacheV1';

export type CniArgs = readonly (readonly [string, string])[];

/** What one successful ADD was asked and answered. */
export interface CachedResult {
  readonly containerId: string;
  readonly networkName: string;
  /** The network's configuration then, as a list. */
  readonly config: string;
  readonly cniArgs: CniArgs;
  readonly capabilityArgs: JsonObject;
  readonly result: JsonObject;
}

/** Results of ADD, in the files where libcni keeps them: CACHEDIR/results/NETWORK-CONTAINER-INTERFACE. */
export class ResultCache {
  readonly #directory: string;

  constructor(cacheDir: string) {
    this.#directory = join(cacheDir, 'results');
  }

  async put({ containerId, networkName, config, cniArgs, capabilityArgs, result }: CachedResult): Promise<void> {
    const encoded = Buffer.from(config).toString('base64');
    const info = { kind: KIND, containerId, config: encoded, ifName: INTERFACE, networkName, cniArgs, capabilityArgs, result };
    await makeDirectory(this.#directory, 0o700);
    await writePrivateFile(this.#path(networkName, containerId), JSON.stringify(info));
  }

  /** Of every network that the sandbox was connected to. What cannot be read is left out. */
  async ofSandbox(containerId: string): Promise<readonly CachedResult[]> {
    const end = `-${containerId}-${INTERFACE}`;
    const names = (await readdir(this.#directory).catch(() => [])).filter((name) => name.endsWith(end));
    const texts = await Promise.all(names.map((name) => readFile(join(this.#directory, name), 'utf8').catch(() => '')));
    return texts.flatMap((text) => decode(text) ?? []);
  }

  async remove(networkName: string, containerId: string): Promise<void> {
    await rm(this.#path(networkName, containerId), { force: true });
  }

  #path(networkName: string, containerId: string): string {
    return join(this.#directory, `${networkName}-${containerId}-${INTERFACE}`);
  }
}

function decode(text: string): CachedResult | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || value['kind'] !== KIND) return undefined;
  const { containerId, networkName, config, cniArgs, capabilityArgs, result } = value;
  if (typeof containerId !== 'string' || typeof networkName !== 'string' || typeof config !== 'string') return undefined;
  const pairs = Array.isArray(cniArgs) ? cniArgs.filter((pair): pair is [string, string] => Array.isArray(pair) && pair.length === 2) : [];
  return {
    containerId,
    networkName,
    config: Buffer.from(config, 'base64').toString(),
    cniArgs: pairs,
    capabilityArgs: isJsonObject(capabilityArgs) ? capabilityArgs : {},
    result: isJsonObject(result) ? result : {},
  };
}
