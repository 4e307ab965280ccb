import { hash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isMissingFile } from '../base/error-code.ts';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { ManifestFault, ManifestWarning } from '../model/manifest-fault.ts';
import type { ManifestObject } from '../model/manifest-object.ts';
import type { Pod } from '../model/pod.ts';
import { type Declaration, Declarations, type DeclaringFile, namesOf, objectKey } from './declarations.ts';
import type { LastGoodManifests } from './last-good-manifests.ts';
import { logFaults, logWarnings } from './manifest-log.ts';
import { type ManifestNews, manifestRead } from './manifest-news.ts';
import { manifestName } from './manifest-name.ts';
import { type ManifestFiles, ownManifestFiles } from './manifest-files.ts';
import type { ManifestFile } from './read-manifest-file.ts';
import type { ReadManifest } from './read-manifest.ts';
import type { StaticManifest } from './read-static-pods.ts';

export interface ManifestDirectoryDeps {
  /** A directory of manifests, or one manifest. */
  readonly path: string;
  readonly read: ReadManifest;
  /** Default: as files of this node. */
  readonly files?: ManifestFiles;
  /** How long a file that went bad or vanished may take to come right before that counts, in milliseconds: it may be half written. */
  readonly settleMs: number;
  /** Asked at the first look about files that are faulty then; undefined: what was good before this process is forgotten. */
  readonly lastGood?: LastGoodManifests | undefined;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
  readonly tell: ManifestNews;
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
  /** What it is, where it is nothing to read. */
  other?: string;
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
 * no longer makes a pod keeps the pod that it made, be it for an agent before this one. A vanished file's pod goes for good: what comes later
 * under that name is another file. An unreadable directory changes nothing. Says each problem once, and when it is over. Never rejects.
 */
export class ManifestDirectory {
  readonly #deps: ManifestDirectoryDeps;
  /** By path. */
  readonly #files = new Map<string, FileState>();
  readonly #declarations: Declarations;
  #wasFile = false;
  readonly #faults = new OngoingFaults<string>();
  /** As many as there are files. */
  readonly #fileFaults = new OngoingFaults<string>(Number.POSITIVE_INFINITY);
  #seen = false;
  /** Since when a manifest is missing that the agent before this one had. */
  #missingSinceMs: number | undefined;
  /** The first look is over: what counts now is what this process has seen. */
  #settled = false;

  constructor(deps: ManifestDirectoryDeps) {
    this.#deps = deps;
    this.#declarations = new Declarations(deps.log, deps.tell);
  }

  /** Whether a file is there that makes no pod, which has been said. */
  get isFaulty(): boolean {
    return [...this.#files.values()].some(({ faulty }) => faulty);
  }

  /** What each file declares; undefined: they have not been read yet. */
  get declaring(): readonly DeclaringFile[] | undefined {
    return this.#settled ? [...this.#files].map(([path, { made, gone = false }]) => ({ path, made, gone })) : undefined;
  }

  /** Looks at the files named, whatever their stamps say; undefined among them means at all that have changed. One call at a time. */
  async scan(hints: readonly (string | undefined)[]): Promise<ManifestScan> {
    const named = new Set(hints.filter((name) => name !== undefined).map((name) => join(this.#deps.path, name)));
    if (this.#settled && !this.#wasFile && this.#faults.size === 0 && !hints.includes(undefined)) {
      const found = await Promise.all([...named].map(async (path) => [path, await this.#look(path, true)] as const));
      // Where a file is gone, its directory may be gone too.
      if (!found.some(([path, file]) => file.is === 'gone' && this.#files.has(path))) {
        for (const [path, file] of found) await this.#take(path, file);
        return this.#result();
      }
    }
    try {
      await this.#scanAll(named);
      this.#reportReadable();
    } catch (error) {
      this.#reportUnreadable(error);
    }
    return this.#result();
  }

  async #scanAll(hinted: ReadonlySet<string>): Promise<void> {
    const paths = await this.#list();
    const listed = new Set(paths);
    for (const path of this.#files.keys()) if (!listed.has(path)) await this.#take(path, { is: 'gone' });
    for (let i = 0; i < paths.length; i += PARALLEL_READS) {
      const batch = paths.slice(i, i + PARALLEL_READS);
      const found = await Promise.all(batch.map(async (path) => [path, await this.#look(path, hinted.has(path))] as const));
      for (const [path, file] of found) await this.#take(path, file);
    }
    this.#seen = true;
    if (!this.#settled) await this.#settle(paths);
  }

  /** Ends the first look, unless a manifest is missing that an editor may be about to write again. */
  async #settle(paths: readonly string[]): Promise<void> {
    const { lastGood, clock, settleMs } = this.#deps;
    const isMissing = (await lastGood?.hasOthers(paths)) ?? false;
    this.#missingSinceMs = isMissing ? (this.#missingSinceMs ?? clock.monotonicMs()) : undefined;
    if (this.#missingSinceMs !== undefined && clock.monotonicMs() - this.#missingSinceMs < settleMs) return;
    this.#missingSinceMs = undefined;
    this.#settled = true;
    await lastGood?.retain([...this.#files].filter(([, state]) => mayBeKept(state)).map(([path]) => path));
  }

  /** Paths of files that may be manifests. Rejects when that cannot be known. */
  async #list(): Promise<readonly string[]> {
    const { path, files = ownManifestFiles } = this.#deps;
    try {
      const names = await files.list(path);
      this.#wasFile = names === undefined;
      if (names === undefined) return [path];
      return names
        .filter((name) => manifestName(name) !== 'hidden')
        .toSorted()
        .map((name) => join(path, name));
    } catch (error) {
      // A single manifest that is gone is a deletion as long as its directory is there, also where an agent before this one read it.
      if (!isMissingFile(error)) throw error;
      this.#wasFile ||= !this.#seen && (await this.#deps.lastGood?.load(path)) !== undefined;
      if (!this.#wasFile) throw error;
      await files.list(dirname(path));
      return [];
    }
  }

  async #look(path: string, force: boolean): Promise<ManifestFile> {
    if (!this.#wasFile && manifestName(basename(path)) === 'leftover') {
      return { is: 'other', what: 'what an editor or packager leaves behind' };
    }
    const state = this.#files.get(path);
    const known = force || state?.doubtedSinceMs !== undefined ? undefined : state?.stamp;
    return (this.#deps.files ?? ownManifestFiles).look(path, known);
  }

  async #take(path: string, file: ManifestFile): Promise<void> {
    const state = this.#files.get(path) ?? {};
    switch (file.is) {
      case 'unchanged':
        return;
      case 'gone':
        if (this.#files.has(path)) await this.#takeGone(path, state);
        // It is listed, or was a moment ago.
        else if (!this.#settled) await this.#takeGone(path, { made: await this.#madeBefore(path) });
        return;
      case 'other':
        if (state.other === file.what) return;
        this.#files.set(path, { other: file.what });
        this.#deps.tell.manifestGone({ where: path });
        await this.#deps.lastGood?.forget(path);
        this.#report(path, `other ${file.what}`, () => this.#deps.log.warn('not read as a manifest', { file: path, why: file.what }));
        return;
      case 'unreadable': {
        const made = state.made ?? (await this.#madeBefore(path));
        this.#files.set(path, { made, faulty: true });
        this.#report(path, errorText(file.error), () => {
          const unreadable = { type: 'unreadable', field: '', detail: errorText(file.error), line: 1, column: 1 } as const;
          this.#deps.log.error('manifest cannot be read', { file: path, error: file.error, keeps: namesOf(made) });
          this.#tell(path, [], [unreadable], made);
        });
        return;
      }
      case 'read':
        await this.#takeContent(path, state, file.stamp, file.content);
        return;
      default:
        file satisfies never;
    }
  }

  async #takeGone(path: string, state: FileState): Promise<void> {
    const { clock, settleMs, log } = this.#deps;
    const since = state.gone === true ? (state.doubtedSinceMs ?? clock.monotonicMs()) : clock.monotonicMs();
    // An editor may be about to write it again.
    if (state.made !== undefined && (state.gone !== true || clock.monotonicMs() - since < settleMs)) {
      this.#files.set(path, { ...state, gone: true, doubtedSinceMs: since });
      return;
    }
    this.#files.delete(path);
    this.#fileFaults.over(path);
    this.#deps.tell.manifestGone({ where: path });
    await this.#deps.lastGood?.forget(path);
    log.v(2, 'manifest removed', { file: path });
  }

  async #takeContent(path: string, state: FileState, stamp: string, content: Uint8Array): Promise<void> {
    const { clock, settleMs, read, log } = this.#deps;
    const digest = hash('sha256', content);
    if (digest === state.digest && state.doubtedSinceMs === undefined) {
      this.#files.set(path, { ...state, stamp });
      return;
    }
    const manifest = await read(content);
    const { faults, warnings, made } = declaredIn(manifest);
    if (made !== undefined) {
      const next = { stamp, digest, made: unlessSame(state.made, made) };
      this.#files.set(path, next);
      // Nothing waits for it. What is secret stays in its own file.
      void (mayBeKept(next) ? this.#deps.lastGood?.keep(path, content) : this.#deps.lastGood?.forget(path));
      this.#report(path, undefined, () => log.info('manifest is good again', { file: path }));
      this.#tell(path, manifest.pods, [], undefined);
      if (digest !== state.digest) logWarnings(log, path, warnings);
      return;
    }
    const since = digest === state.digest && state.gone !== true ? (state.doubtedSinceMs ?? clock.monotonicMs()) : clock.monotonicMs();
    const settled = digest === state.digest && clock.monotonicMs() - since >= settleMs;
    const kept = state.made ?? (await this.#madeBefore(path));
    this.#files.set(path, { ...state, made: kept, stamp, digest, gone: false, faulty: true, doubtedSinceMs: settled ? undefined : since });
    if (settled) {
      this.#report(path, digest, () => {
        logFaults(log, path, faults, namesOf(kept));
        this.#tell(path, manifest.pods, faults, kept);
        logWarnings(log, path, warnings);
      });
    }
  }

  #result(): ManifestScan {
    const isDoubted = [...this.#files.values()].some(({ doubtedSinceMs }) => doubtedSinceMs !== undefined);
    const { pods, objects } = this.#declarations.of([...this.#files].map(([path, { made, gone = false }]) => ({ path, made, gone })));
    return { pods: this.#seen ? pods : undefined, objects, unsettled: isDoubted || this.#missingSinceMs !== undefined };
  }

  /** Says something about a file unless it was the last thing said; undefined means that all is well. */
  #report(path: string, what: string | undefined, say: () => void): void {
    if (what === undefined ? this.#fileFaults.over(path) : this.#fileFaults.fault(path, what)) say();
  }

  /** What the file declared when an agent before this one read it last. A file that is new since the first look is another one. */
  async #madeBefore(path: string): Promise<Declaration | undefined> {
    if (this.#settled) return undefined;
    const content = await this.#deps.lastGood?.load(path);
    return content && declaredIn(await this.#deps.read(content)).made;
  }

  #tell(path: string, pods: StaticManifest['pods'], faults: readonly ManifestFault[], kept: Declaration | undefined): void {
    const keeps = kept && namesOf(kept);
    this.#deps.tell.manifestRead(manifestRead({ source: 'file', where: path, keeps }, pods, faults, kept?.pod ? [kept.pod] : []));
  }

  #reportUnreadable(error: unknown): void {
    if (!this.#faults.fault(this.#deps.path, error)) return;
    const message = this.#seen ? 'manifests cannot be read: their pods stay as they are' : 'manifests cannot be read yet: waiting for them';
    this.#deps.log.error(message, { path: this.#deps.path, error });
  }

  #reportReadable(): void {
    if (this.#faults.over(this.#deps.path)) this.#deps.log.info('manifests can be read again', { path: this.#deps.path });
  }
}

/** What a manifest declares, if nothing is wrong with it. */
function declaredIn({ pods, objects, faults, warnings }: StaticManifest): {
  readonly made: Declaration | undefined;
  readonly faults: readonly ManifestFault[];
  readonly warnings: readonly ManifestWarning[];
} {
  const all = [...faults, ...[...pods, ...objects].flatMap((each) => each.faults)];
  const made = { pod: pods[0]?.pod, objects: objects.flatMap(({ object }) => object ?? []) };
  return { made: all.length === 0 ? made : undefined, faults: all, warnings };
}

/** Whether what it declares may be kept: not what is secret. */
const mayBeKept = ({ other, made }: FileState): boolean =>
  other === undefined && made?.objects.some(({ kind }) => kind === 'Secret') !== true;

/** What is unchanged keeps its identity. */
function unlessSame(before: Declaration | undefined, now: Declaration): Declaration {
  const known = new Map(before?.objects.map((object) => [objectKey(object), object]));
  const objects = now.objects.map((object) => {
    const old = known.get(objectKey(object));
    return isDeepStrictEqual(old, object) ? (old ?? object) : object;
  });
  return { pod: isDeepStrictEqual(now.pod, before?.pod) ? before?.pod : now.pod, objects };
}

/** Open files at one time. */
const PARALLEL_READS = 16;
