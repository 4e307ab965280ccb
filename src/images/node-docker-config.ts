import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isMissingFile } from '../base/error-code.ts';
import type { Logger } from '../base/logger.ts';
import { credentialHelpersOf, type DockerConfigEntry, parseDockercfg, parseDockerConfigJson } from './docker-config.ts';

export interface NodeDockerConfigPlaces {
  /** The agent's root directory: searched first. */
  readonly rootDir: string;
  readonly cwd: string;
  /** $HOME; undefined where there is none. */
  readonly home: string | undefined;
}

/**
 * The node's own registry credentials: the first config.json that parses, else the first .dockercfg, in the kubelet's places
 * (pkg/credentialprovider/config.go). Files are read at each look, so that a change counts from the next pull on; the kubelet
 * keeps them for five minutes.
 */
export class NodeDockerConfig {
  readonly #candidates: readonly { readonly path: string; readonly parse: (text: string) => readonly DockerConfigEntry[] }[];
  readonly #log: Logger;
  readonly #readText: (path: string) => Promise<string>;
  /** By path: what was last read there, so that news is logged once. */
  readonly #seen = new Map<string, { readonly text: string; readonly entries: readonly DockerConfigEntry[] | undefined }>();

  /** `readText` rejects as fs.readFile does. */
  constructor(
    { rootDir, cwd, home = '' }: NodeDockerConfigPlaces,
    log: Logger,
    readText: (path: string) => Promise<string> = (path) => readFile(path, 'utf8'),
  ) {
    const json = [rootDir, cwd, resolve(cwd, home, '.docker'), '/.docker'].map((dir) => resolve(cwd, dir, 'config.json'));
    const legacy = [rootDir, cwd, resolve(cwd, home), '/'].map((dir) => resolve(cwd, dir, '.dockercfg'));
    this.#candidates = [
      ...json.map((path) => ({ path, parse: parseDockerConfigJson })),
      ...legacy.map((path) => ({ path, parse: parseDockercfg })),
    ];
    this.#log = log;
    this.#readText = readText;
  }

  async entries(): Promise<readonly DockerConfigEntry[]> {
    for (const { path, parse } of this.#candidates) {
      const text = await this.#read(path);
      if (text === undefined) {
        this.#seen.delete(path);
        continue;
      }
      const seen = this.#seen.get(path);
      const entries = seen?.text === text ? seen.entries : this.#parse(path, text, parse);
      this.#seen.set(path, { text, entries });
      if (entries !== undefined) return entries;
    }
    return [];
  }

  async #read(path: string): Promise<string | undefined> {
    try {
      return await this.#readText(path);
    } catch (error) {
      if (!isMissingFile(error)) this.#log.v(4, 'docker config not readable', { path, error });
      return undefined;
    }
  }

  #parse(path: string, text: string, parse: (text: string) => readonly DockerConfigEntry[]): readonly DockerConfigEntry[] | undefined {
    const helpers = path.endsWith('config.json') ? credentialHelpersOf(text) : [];
    if (helpers.length > 0) {
      this.#log.warn('credential helpers of a docker config not supported, using its auths only', { path, helpers });
    }
    try {
      const entries = parse(text);
      this.#log.v(2, 'docker config read', { path, locations: entries.map((e) => e.location) });
      return entries;
    } catch (error) {
      this.#log.warn('docker config ignored', { path, error });
      return undefined;
    }
  }
}
