import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDirectory } from '../base/make-directory.ts';
import { readRegularFile } from '../base/read-regular-file.ts';
import { errorCode } from '../base/error-code.ts';
import { writePrivateFile } from '../base/write-private-file.ts';
import type { DownloadedSource } from '../model/node-config.ts';
import { isConfigMapKey } from '../model/validation/formats.ts';
import { decodeSource, downloadedFaults, encodeSource } from './config-source.ts';

export type Role = 'assigned' | 'last-known-good';

const MAX_META_BYTES = 65_536;
/** As an API server has it of ConfigMaps (MaxSecretSize). */
const MAX_PAYLOAD_BYTES = 2 ** 20;

/**
 * Downloaded configurations, in the layout of Kubernetes (pkg/kubelet/kubeletconfig/checkpoint/store): store/meta/assigned and
 * store/meta/last-known-good name a version, or are empty for the node's own configuration; store/checkpoints/UID/RESOURCEVERSION/KEY has the files.
 */
export class CheckpointStore {
  readonly #meta: string;
  readonly #checkpoints: string;

  constructor(dynamicConfigDir: string) {
    this.#meta = join(dynamicConfigDir, 'store/meta');
    this.#checkpoints = join(dynamicConfigDir, 'store/checkpoints');
  }

  async initialize(): Promise<void> {
    await makeDirectory(this.#meta, 0o700);
    await makeDirectory(this.#checkpoints, 0o700);
    for (const role of ['assigned', 'last-known-good'] as const) {
      const isThere = await stat(this.#metaPath(role)).then(
        () => true,
        () => false,
      );
      if (!isThere) await writePrivateFile(this.#metaPath(role), '');
    }
  }

  /** Undefined: the node's own. Rejects where the record cannot be used. */
  async source(role: Role): Promise<DownloadedSource | undefined> {
    const path = this.#metaPath(role);
    const text = await readRegularFile(path, MAX_META_BYTES);
    try {
      return text.trim() === '' ? undefined : decodeSource(text);
    } catch (cause) {
      throw new Error(`${path} cannot be used`, { cause });
    }
  }

  async set(role: Role, source: DownloadedSource | undefined): Promise<void> {
    await writePrivateFile(this.#metaPath(role), source === undefined ? '' : encodeSource(source));
  }

  /** Since when it is assigned: a date in milliseconds. */
  async assignedAtMs(): Promise<number> {
    return (await stat(this.#metaPath('assigned'))).mtimeMs;
  }

  /** Of the source's configuration. */
  fileOf(source: DownloadedSource): string {
    return join(this.#directoryOf(source), source.kubeletConfigKey);
  }

  async has(source: DownloadedSource): Promise<boolean> {
    try {
      return (await stat(this.#directoryOf(source))).isDirectory();
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false;
      throw error;
    }
  }

  /** Keeps the files of a version, all or none. Rejects for names that no ConfigMap has, and for more than a ConfigMap holds. */
  async save(source: DownloadedSource, files: Readonly<Record<string, string>>): Promise<void> {
    const faults = [...downloadedFaults(source), ...Object.keys(files).flatMap((key) => isConfigMapKey(key))];
    if (faults[0] !== undefined) throw new Error(`the ConfigMap cannot be kept: ${faults[0]}`);
    const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (bytes > MAX_PAYLOAD_BYTES) throw new Error(`the ConfigMap cannot be kept: it is larger than ${MAX_PAYLOAD_BYTES} bytes`);
    const directory = this.#directoryOf(source);
    const unfinished = join(dirname(directory), `.${source.resourceVersion}.part`);
    await rm(unfinished, { recursive: true, force: true });
    await makeDirectory(unfinished, 0o700);
    for (const [key, text] of Object.entries(files)) await writeFile(join(unfinished, key), text, { mode: 0o600, flag: 'wx' });
    await rm(directory, { recursive: true, force: true });
    await rename(unfinished, directory);
  }

  /** Removes all versions but these. */
  async keepOnly(sources: readonly (DownloadedSource | undefined)[]): Promise<void> {
    const kept = new Set(
      sources.flatMap((source) => (source === undefined ? [] : [source.uid, `${source.uid}/${source.resourceVersion}`])),
    );
    for (const uid of await readdir(this.#checkpoints)) {
      if (!kept.has(uid)) {
        await rm(join(this.#checkpoints, uid), { recursive: true, force: true });
        continue;
      }
      for (const version of await readdir(join(this.#checkpoints, uid)))
        if (!kept.has(`${uid}/${version}`)) await rm(join(this.#checkpoints, uid, version), { recursive: true, force: true });
    }
  }

  #metaPath(role: Role): string {
    return join(this.#meta, role);
  }

  #directoryOf({ uid, resourceVersion }: DownloadedSource): string {
    return join(this.#checkpoints, uid, resourceVersion);
  }
}
