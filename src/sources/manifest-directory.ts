import { hash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isMissingFile } from '../base/error-code.ts';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { formatManifestFault, type ManifestFault, type ManifestWarning } from '../model/manifest-fault.ts';
import type { ManifestObject } from '../model/manifest-object.ts';
import type { Pod } from '../model/pod.ts';
import { type Declaration, Declarations, namesOf } from './declarations.ts';
import type { LastGoodManifests } from './last-good-manifests.ts';
import { manifestName } from './manifest-name.ts';
import { type ManifestFile, readManifestFile } from './read-manifest-file.ts';
import type { ReadStaticPods } from './read-static-pods.ts';

export interface ManifestDirectoryDeps {
  /** A directory of manifests, or one manifest. */
  readonly path: string;
  readonly read: ReadStaticPods;
  /** How long a file that went bad or vanished may take to come right before it counts, in milliseconds: it may be half written. */
  readonly settleMs: number;
  /** Asked about a file that is faulty when it is first seen; undefined: what was good before this process is forgotten. */
  readonly lastGood?: LastGoodManifests | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** One file's standing. A quarantined file keeps the pod or the objects that it made last. */
interface FileState {
  stamp?: string | undefined;
  digest?: string | undefined;
  made?: Declaration | undefined;
  /** Since when the file has been bad or gone without that being believed. */
  doubtedSinceMs?: number | undefined;
  gone?: boolean;
  /** It is there and makes nothing. */
  faulty?: boolean;
  /** What was last said about it. */
  told?: string | undefined;
}

export interface ManifestScan {
  /** Undefined when nothing is known of the directory. In the order of file names. */
  readonly pods: readonly Pod[] | undefined;
  /** ConfigMaps and Secrets, likewise. */
  readonly objects: readonly ManifestObject[];
  /** A file is doubted: look again once `settleMs` have passed. */
  readonly unsettled: boolean;
}

/**
 * What the manifests of a directory declare, pods and the ConfigMaps and Secrets that these may refer to, with last known good: a file that
 * no longer makes a pod keeps the pod that it made, be it for an agent before this one; a vanished file's pod goes; an unreadable directory changes nothing. Says each problem
 * once, and when it is over. Never rejects.
 */
export class ManifestDirectory {
  readonly #deps: ManifestDirectoryDeps;
  readonly #files = new Map<string, FileState>();
  readonly #declarations: Declarations;
  #wasFile = false;
  #seen = false;
  #unreadable: string | undefined;

  constructor(deps: ManifestDirectoryDeps) {
    this.#deps = deps;
    this.#declarations = new Declarations((name) => this.#pathOf(name), deps.log);
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
        for (const [name, file] of found) await this.#take(name, file);
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
    if (!this.#seen) await this.#deps.lastGood?.retain(names.map((name) => this.#pathOf(name)));
    for (const name of this.#files.keys()) if (!names.includes(name)) await this.#take(name, { is: 'gone' });
    for (let i = 0; i < names.length; i += PARALLEL_READS) {
      const batch = names.slice(i, i + PARALLEL_READS);
      const found = await Promise.all(batch.map(async (name) => [name, await this.#look(name, hinted.has(name))] as const));
      for (const [name, file] of found) await this.#take(name, file);
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
      if (!this.#wasFile || !isMissingFile(error)) throw error;
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

  async #take(name: string, file: ManifestFile): Promise<void> {
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
      case 'unreadable': {
        const made = state.made ?? (await this.#madeBefore(name));
        this.#files.set(name, { made, told: state.told, faulty: true });
        this.#tell(name, errorText(file.error), () =>
          this.#deps.log.error('manifest cannot be read', { file: this.#pathOf(name), error: file.error, keeps: namesOf(made) }),
        );
        return;
      }
      case 'read':
        await this.#takeContent(name, state, file.stamp, file.content);
        return;
      default:
        file satisfies never;
    }
  }

  #takeGone(name: string, state: FileState): void {
    const { clock, settleMs, log } = this.#deps;
    const since = state.gone === true ? (state.doubtedSinceMs ?? clock.now()) : clock.now();
    // An editor may be about to write it anew.
    if (state.made !== undefined && (state.gone !== true || clock.now() - since < settleMs)) {
      this.#files.set(name, { ...state, gone: true, doubtedSinceMs: since });
      return;
    }
    this.#files.delete(name);
    log.v(2, 'manifest removed', { file: this.#pathOf(name) });
  }

  async #takeContent(name: string, state: FileState, stamp: string, content: Uint8Array): Promise<void> {
    const { clock, settleMs, read, log } = this.#deps;
    const digest = hash('sha256', content);
    if (digest === state.digest && state.doubtedSinceMs === undefined) {
      this.#files.set(name, { ...state, stamp });
      return;
    }
    const { faults, warnings, made } = declaredIn(read(content));
    if (made !== undefined) {
      // Nothing waits for it. What is secret stays in its own file.
      if (!made.objects.some(({ kind }) => kind === 'Secret')) void this.#deps.lastGood?.keep(this.#pathOf(name), content);
      this.#files.set(name, { stamp, digest, made: unlessSame(state.made, made), told: state.told });
      this.#tell(name, undefined, () => log.info('manifest is good again', { file: this.#pathOf(name) }));
      if (digest !== state.digest) this.#tellWarnings(name, warnings);
      return;
    }
    const since = digest === state.digest && state.gone !== true ? (state.doubtedSinceMs ?? clock.now()) : clock.now();
    const settled = digest === state.digest && clock.now() - since >= settleMs;
    const kept = state.made ?? (await this.#madeBefore(name));
    this.#files.set(name, { ...state, made: kept, stamp, digest, gone: false, faulty: true, doubtedSinceMs: settled ? undefined : since });
    if (settled) {
      this.#tell(name, digest, () => {
        this.#tellFaults(name, kept, faults);
        this.#tellWarnings(name, warnings);
      });
    }
  }

  #result(): ManifestScan {
    const unsettled = [...this.#files.values()].some(({ doubtedSinceMs }) => doubtedSinceMs !== undefined);
    const { pods, objects } = this.#declarations.of([...this.#files].map(([name, { made, gone = false }]) => ({ name, made, gone })));
    return { pods: this.#seen ? pods : undefined, objects, unsettled };
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

  #tellFaults(name: string, made: Declaration | undefined, faults: readonly ManifestFault[]): void {
    const { log } = this.#deps;
    const keeps = namesOf(made);
    for (const fault of faults) log.error('manifest refused', { fault: formatManifestFault(this.#pathOf(name), fault), keeps });
  }

  #tellWarnings(name: string, warnings: readonly ManifestWarning[]): void {
    for (const warning of warnings)
      this.#deps.log.warn('manifest has something odd', { warning: formatManifestFault(this.#pathOf(name), warning) });
  }

  /** What the file declared when an agent before this one read it last. */
  async #madeBefore(name: string): Promise<Declaration | undefined> {
    const content = await this.#deps.lastGood?.load(this.#pathOf(name));
    return content && declaredIn(this.#deps.read(content)).made;
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

/** What a manifest declares, if nothing is wrong with it. */
function declaredIn({ pods, objects, faults, warnings }: ReturnType<ReadStaticPods>): {
  readonly made: Declaration | undefined;
  readonly faults: readonly ManifestFault[];
  readonly warnings: readonly ManifestWarning[];
} {
  const all = [...faults, ...[...pods, ...objects].flatMap((each) => each.faults)];
  const made = { pod: pods[0]?.pod, objects: objects.flatMap(({ object }) => object ?? []) };
  return { made: all.length === 0 ? made : undefined, faults: all, warnings };
}

/** What is unchanged keeps its identity. */
function unlessSame(before: Declaration | undefined, now: Declaration): Declaration {
  const objects = now.objects.map((object) => before?.objects.find((each) => isDeepStrictEqual(each, object)) ?? object);
  return { pod: isDeepStrictEqual(now.pod, before?.pod) ? before?.pod : now.pod, objects };
}

/** Open files at one time. */
const PARALLEL_READS = 16;
