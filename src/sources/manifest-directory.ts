import { hash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { formatManifestFault, type ManifestFault, type ManifestWarning } from '../model/manifest-fault.ts';
import type { Pod } from '../model/pod.ts';
import { manifestName } from './manifest-name.ts';
import { isNotFound, type ManifestFile, readManifestFile } from './read-manifest-file.ts';
import type { ReadStaticPods } from './read-static-pods.ts';

export interface ManifestDirectoryDeps {
  /** A directory of manifests, or one manifest. */
  readonly path: string;
  readonly read: ReadStaticPods;
  /** How long a file that went bad or vanished may take to come right before it counts, in milliseconds: it may be half written. */
  readonly settleMs: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** One file's standing. A quarantined file keeps the pod that it made last. */
interface FileState {
  stamp?: string | undefined;
  digest?: string | undefined;
  pod?: Pod | undefined;
  /** Since when the file has been bad or gone without that being believed. */
  doubtedSinceMs?: number | undefined;
  gone?: boolean;
  /** It is there and makes no pod. */
  faulty?: boolean;
  /** What was last said about it. */
  told?: string | undefined;
}

export interface ManifestScan {
  /** Undefined when nothing is known of the directory. In the order of file names. */
  readonly pods: readonly Pod[] | undefined;
  /** A file is doubted: look again once `settleMs` have passed. */
  readonly unsettled: boolean;
}

/**
 * What the manifests of a directory declare, with last known good: a file that no longer makes a pod keeps the pod that it made; a
 * vanished file's pod goes; an unreadable directory changes nothing. Says each problem once, and when it is over. Never rejects.
 */
export class ManifestDirectory {
  readonly #deps: ManifestDirectoryDeps;
  readonly #files = new Map<string, FileState>();
  readonly #collisions = new Set<string>();
  #wasFile = false;
  #seen = false;
  #unreadable: string | undefined;

  constructor(deps: ManifestDirectoryDeps) {
    this.#deps = deps;
  }

  /** Whether a file is there that makes no pod, which has been said. */
  get isFaulty(): boolean {
    return [...this.#files.values()].some(({ faulty }) => faulty);
  }

  /** Looks at the files named, whatever their stamps say; undefined among them means at all that have changed. One call at a time. */
  async scan(hints: readonly (string | undefined)[]): Promise<ManifestScan> {
    const named = new Set(hints.filter((name) => name !== undefined));
    if (this.#seen && !this.#wasFile && this.#unreadable === undefined && !hints.includes(undefined)) {
      const found = await Promise.all([...named].map(async (name) => [name, await this.#look(name, true)] as const));
      // Where a file is gone, its directory may be gone too.
      if (!found.some(([name, file]) => file.is === 'gone' && this.#files.has(name))) {
        for (const [name, file] of found) this.#take(name, file);
        return this.#result();
      }
    }
    try {
      await this.#scanAll(named);
      this.#tellReadable();
    } catch (error) {
      this.#tellUnreadable(error);
    }
    return this.#result();
  }

  async #scanAll(hinted: ReadonlySet<string>): Promise<void> {
    const names = await this.#list();
    for (const name of this.#files.keys()) if (!names.includes(name)) this.#take(name, { is: 'gone' });
    for (let i = 0; i < names.length; i += PARALLEL_READS) {
      const batch = names.slice(i, i + PARALLEL_READS);
      const found = await Promise.all(batch.map(async (name) => [name, await this.#look(name, hinted.has(name))] as const));
      for (const [name, file] of found) this.#take(name, file);
    }
    this.#seen = true;
  }

  /** Names of files that may be manifests. Rejects when that cannot be known. */
  async #list(): Promise<readonly string[]> {
    const { path } = this.#deps;
    try {
      const stats = await stat(path);
      this.#wasFile = !stats.isDirectory();
      return this.#wasFile ? [basename(path)] : (await readdir(path)).filter((name) => manifestName(name) !== 'hidden').sort();
    } catch (error) {
      // A single manifest that is gone is a deletion as long as its directory is there.
      if (!this.#wasFile || !isNotFound(error)) throw error;
      await readdir(dirname(path));
      return [];
    }
  }

  async #look(name: string, force: boolean): Promise<ManifestFile> {
    if (!this.#wasFile && manifestName(name) === 'leftover') return { is: 'other', what: 'what an editor or packager leaves behind' };
    const state = this.#files.get(name);
    const known = force || state?.doubtedSinceMs !== undefined ? undefined : state?.stamp;
    return readManifestFile(this.#pathOf(name), known);
  }

  #take(name: string, file: ManifestFile): void {
    const state = this.#files.get(name) ?? {};
    switch (file.is) {
      case 'unchanged':
        return;
      case 'gone':
        if (this.#files.has(name)) this.#takeGone(name, state);
        return;
      case 'other':
        this.#files.set(name, { told: state.told });
        this.#tell(name, `other ${file.what}`, () =>
          this.#deps.log.warn('not read as a manifest', { file: this.#pathOf(name), why: file.what }),
        );
        return;
      case 'unreadable':
        this.#files.set(name, { pod: state.pod, told: state.told, faulty: true });
        this.#tell(name, errorText(file.error), () =>
          this.#deps.log.error('manifest cannot be read', this.#about(name, state, file.error)),
        );
        return;
      case 'read':
        this.#takeContent(name, state, file.stamp, file.content);
        return;
      default:
        file satisfies never;
    }
  }

  #takeGone(name: string, state: FileState): void {
    const { clock, settleMs, log } = this.#deps;
    const since = state.gone === true ? (state.doubtedSinceMs ?? clock.now()) : clock.now();
    // An editor may be about to write it anew.
    if (state.pod !== undefined && (state.gone !== true || clock.now() - since < settleMs)) {
      this.#files.set(name, { ...state, gone: true, doubtedSinceMs: since });
      return;
    }
    this.#files.delete(name);
    log.v(2, 'manifest removed', { file: this.#pathOf(name) });
  }

  #takeContent(name: string, state: FileState, stamp: string, content: Uint8Array): void {
    const { clock, settleMs, read, log } = this.#deps;
    const digest = hash('sha256', content);
    if (digest === state.digest && state.doubtedSinceMs === undefined) {
      this.#files.set(name, { ...state, stamp });
      return;
    }
    const { pods, faults, warnings } = read(content);
    const all = [...faults, ...pods.flatMap((pod) => pod.faults)];
    const pod = pods[0]?.pod;
    if (pod !== undefined && all.length === 0) {
      const same = isDeepStrictEqual(pod, state.pod);
      this.#files.set(name, { stamp, digest, pod: same ? state.pod : pod, told: state.told });
      this.#tell(name, undefined, () => log.info('manifest is good again', { file: this.#pathOf(name) }));
      if (digest !== state.digest) this.#tellWarnings(name, warnings);
      return;
    }
    const since = digest === state.digest && state.gone !== true ? (state.doubtedSinceMs ?? clock.now()) : clock.now();
    const settled = digest === state.digest && clock.now() - since >= settleMs;
    this.#files.set(name, { ...state, stamp, digest, gone: false, faulty: true, doubtedSinceMs: settled ? undefined : since });
    if (settled) {
      this.#tell(name, digest, () => {
        this.#tellFaults(name, state, all);
        this.#tellWarnings(name, warnings);
      });
    }
  }

  #result(): ManifestScan {
    const unsettled = [...this.#files.values()].some(({ doubtedSinceMs }) => doubtedSinceMs !== undefined);
    return { pods: this.#seen ? this.#pods() : undefined, unsettled };
  }

  /** Of two files that name one pod the first by name wins; one that seems gone gives way. */
  #pods(): readonly Pod[] {
    const winners = new Map<string, { readonly name: string; readonly pod: Pod; readonly gone: boolean }>();
    const collisions = new Set<string>();
    for (const [name, { pod, gone = false }] of [...this.#files].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (pod === undefined) continue;
      const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
      const winner = winners.get(key);
      if (winner === undefined || (winner.gone && !gone)) winners.set(key, { name, pod, gone });
      else if (!gone) {
        const collision = `${key} ${winner.name} ${name}`;
        collisions.add(collision);
        if (this.#collisions.has(collision)) continue;
        this.#deps.log.error('two manifests name one pod: the first file runs, the other is ignored', {
          pod: key,
          runs: this.#pathOf(winner.name),
          ignored: this.#pathOf(name),
        });
      }
    }
    this.#collisions.clear();
    for (const collision of collisions) this.#collisions.add(collision);
    return [...winners.values()].map(({ pod }) => pod);
  }

  #pathOf(name: string): string {
    return this.#wasFile ? this.#deps.path : join(this.#deps.path, name);
  }

  /** Says something about a file unless it was the last thing said; undefined means that all is well. */
  #tell(name: string, what: string | undefined, say: () => void): void {
    const state = this.#files.get(name);
    if (state === undefined || state.told === what) return;
    state.told = what;
    say();
  }

  #tellFaults(name: string, { pod }: FileState, faults: readonly ManifestFault[]): void {
    const { log } = this.#deps;
    const kept = pod === undefined ? 'no pod' : `${pod.metadata.namespace}/${pod.metadata.name}`;
    for (const fault of faults) log.error('manifest refused', { fault: formatManifestFault(this.#pathOf(name), fault), keeps: kept });
  }

  #tellWarnings(name: string, warnings: readonly ManifestWarning[]): void {
    for (const warning of warnings)
      this.#deps.log.warn('manifest has something odd', { warning: formatManifestFault(this.#pathOf(name), warning) });
  }

  #about(name: string, { pod }: FileState, error: Error): Readonly<Record<string, unknown>> {
    return { file: this.#pathOf(name), error, keeps: pod === undefined ? 'no pod' : `${pod.metadata.namespace}/${pod.metadata.name}` };
  }

  #tellUnreadable(error: unknown): void {
    const text = errorText(error);
    if (this.#unreadable === text) return;
    this.#unreadable = text;
    const message = this.#seen ? 'manifests cannot be read: their pods stay as they are' : 'manifests cannot be read yet: waiting for them';
    this.#deps.log.error(message, { path: this.#deps.path, error });
  }

  #tellReadable(): void {
    if (this.#unreadable === undefined) return;
    this.#unreadable = undefined;
    this.#deps.log.info('manifests can be read again', { path: this.#deps.path });
  }
}

/** Open files at one time. */
const PARALLEL_READS = 16;
