import { defer, distinctUntilChanged, filter, map, merge, repeat, skipWhile, startWith, Subject, switchMap, tap, timer } from 'rxjs';
import { coalesceMap } from '../base/coalesce-map.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { ManifestObject } from '../model/manifest-object.ts';
import type { PodSource } from '../ports/pod-source.ts';
import type { DeclaringFile } from './declarations.ts';
import type { LastGoodManifests } from './last-good-manifests.ts';
import { ManifestDirectory } from './manifest-directory.ts';
import { type ManifestFiles, manifestFiles, ownManifestFiles } from './manifest-files.ts';
import type { ManifestNews } from './manifest-news.ts';
import { manifestReader } from './read-manifest.ts';
import { samePods } from '../model/same-pods.ts';
import { type StaticPodRules, staticPodRules } from './static-pod-rules.ts';
import { watchManifests } from './watch-manifests.ts';

export interface FileSourceDeps {
  /** --pod-manifest-path: a directory of manifests, or one manifest. */
  readonly path: string;
  readonly nodeName: string;
  /** What its pods may have; by default what Kubernetes' gates let them have by default. */
  readonly rules?: StaticPodRules;
  /** fileCheckFrequency, in milliseconds: how often everything is looked at again, whatever the watch says. */
  readonly rescanMs: () => number;
  /** Hears of the ConfigMaps and Secrets that are declared there, before the pods that may refer to them: complete sets. */
  readonly onObjects?: (objects: readonly ManifestObject[]) => void;
  /** Where what was good is kept for the next agent; undefined: nowhere. */
  readonly lastGood?: LastGoodManifests;
  /** How they are looked at where a server may have them; undefined: as files of this node. */
  readonly servers?: { readonly files: ManifestFiles; readonly isServers: () => boolean };
  readonly clock: Clock;
  readonly log: Logger;
  readonly tell: ManifestNews;
  /** How long a file may be half written or missing before that counts, in milliseconds. Default 100. */
  readonly settleMs?: number;
}

export interface FileSource extends PodSource {
  /** What each file declares now; undefined: they have not been read yet. */
  readonly declaring: () => readonly DeclaringFile[] | undefined;
}

/** How often at most a manifest that keeps changing may be half written before the first snapshot goes without it. */
const FIRST_LOOKS = 10;

/**
 * Pods of a manifest directory. A change shows within milliseconds. Says nothing as long as the directory has never been read, and first
 * waits for manifests that seem half written, for what is not declared is removed then; what cannot be read or is not valid takes no pod
 * away (see ManifestDirectory).
 */
export function fileSource(deps: FileSourceDeps): FileSource {
  const { path, nodeName, rules = staticPodRules({}), rescanMs, onObjects, lastGood, servers, clock, log, tell, settleMs = 100 } = deps;
  const files = servers ? manifestFiles(ownManifestFiles, servers.files, servers.isServers) : ownManifestFiles;
  let directory: ManifestDirectory | undefined;
  const snapshots = defer(() => {
    const read = manifestReader({ source: 'file', nodeName, objects: true, ...rules }, clock);
    const trimmed = path.length > 1 ? path.replace(/\/+$/, '') : path;
    const own = new ManifestDirectory({ path: trimmed, files, read, settleMs, lastGood, clock, log, tell });
    directory = own;
    const doubts = new Subject<boolean>();
    const settled = doubts.pipe(switchMap((unsettled) => (unsettled ? timer(settleMs, clock) : [])));
    const rescans = defer(() => timer(rescanMs(), clock)).pipe(repeat());
    const looks = merge(rescans, settled).pipe(
      map(() => undefined),
      startWith(undefined),
    );
    return merge(watchManifests({ path: trimmed, isServers: servers?.isServers ?? (() => false), clock, log }), looks).pipe(
      coalesceMap((names) => own.scan(names)),
      tap(({ unsettled, objects }) => {
        onObjects?.(objects);
        doubts.next(unsettled);
      }),
      filter(({ pods }) => pods !== undefined),
      skipWhile(({ unsettled }, look) => unsettled && look < FIRST_LOOKS),
      map(({ pods }) => pods),
      filter((pods) => pods !== undefined),
      distinctUntilChanged(samePods),
    );
  });
  return { name: 'file', snapshots, isFaulty: () => directory?.isFaulty ?? false, declaring: () => directory?.declaring };
}
