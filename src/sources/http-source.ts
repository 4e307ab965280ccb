import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Observable } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import { type Pod, showPod } from '../model/pod.ts';
import type { PodSource } from '../ports/pod-source.ts';
import { manifestFetcher } from './fetch-manifest.ts';
import { logFaults, logWarnings } from './manifest-log.ts';
import { type ManifestNews, manifestRead } from './manifest-news.ts';
import { manifestReader, type ReadManifest } from './read-manifest.ts';
import type { StaticPodResult } from './read-static-pods.ts';
import { type StaticPodRules, staticPodRules } from './static-pod-rules.ts';

export interface HttpSourceDeps {
  /** --manifest-url: answers with a Pod or a PodList, JSON or YAML. */
  readonly url: string;
  /** --manifest-url-header */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** httpCheckFrequency, in milliseconds, from the end of one request to the next. */
  readonly pollMs: () => number;
  readonly nodeName: string;
  /** What its pods may have; by default they refer to nothing. */
  readonly rules?: StaticPodRules;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tell: ManifestNews;
  readonly fetch?: typeof fetch;
}

/**
 * Pods of a URL. What cannot be fetched or read takes no pod away, and a pod of a list that is not valid leaves the others alone and
 * stays what it was. Says nothing as long as there was no answer. Each problem is said once, and when it is over.
 */
export function httpSource({
  url,
  headers,
  pollMs,
  nodeName,
  rules = { ...staticPodRules({}), references: 'refuse' },
  clock,
  log,
  tell,
  fetch = globalThis.fetch,
}: HttpSourceDeps): PodSource {
  let isFaulty = (): boolean => false;
  const snapshots = new Observable<readonly Pod[]>((subscriber) => {
    const stop = new AbortController();
    const get = manifestFetcher({ url, headers, clock, fetch });
    const pods = new UrlPods(shownUrl(url), manifestReader({ source: 'http', nodeName, ...rules }, clock), log, tell);
    isFaulty = () => pods.isFaulty;
    const poll = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        try {
          const body = await get(stop.signal);
          const changed = await pods.fetched(body);
          if (changed !== undefined) subscriber.next(changed);
        } catch (error) {
          if (!stop.signal.aborted) pods.failed(error);
        }
        await clock.sleep(pollMs(), stop.signal);
      }
    };
    poll().catch((error: unknown) => {
      if (!stop.signal.aborted) subscriber.error(error);
    });
    return () => stop.abort();
  });
  return { name: 'http', snapshots, isFaulty: () => isFaulty() };
}

/** What the URL declared last, by "namespace/name" as written there. */
class UrlPods {
  readonly #url: string;
  readonly #read: ReadManifest;
  readonly #log: Logger;
  readonly #tell: ManifestNews;
  #pods: ReadonlyMap<string, Pod> | undefined;
  /** What was fetched last makes not all of its pods. */
  isFaulty = false;
  #digest: string | undefined;
  readonly #faults = new OngoingFaults<string>();

  constructor(url: string, read: ReadManifest, log: Logger, tell: ManifestNews) {
    this.#url = url;
    this.#read = read;
    this.#log = log;
    this.#tell = tell;
  }

  /** The complete set, when it is another than before. */
  async fetched(body: Uint8Array | 'unchanged'): Promise<readonly Pod[] | undefined> {
    if (this.#faults.over(this.#url)) this.#log.info('manifest URL can be read again', { url: this.#url });
    if (body === 'unchanged') return undefined;
    const digest = hash('sha256', body);
    if (digest === this.#digest) return undefined;
    this.#digest = digest;
    const { pods, faults, warnings } = await this.#read(body);
    this.isFaulty = faults.length > 0 || pods.some(({ pod }) => pod === undefined);
    logWarnings(this.#log, this.#url, warnings);
    logFaults(this.#log, this.#url, faults, this.#pods === undefined ? 'no pods' : `${this.#pods.size} pods`);
    const all = [...faults, ...pods.flatMap((each) => each.faults)];
    const kept = all.length > 0 ? [...(this.#pods?.values() ?? [])] : [];
    const keeps = kept.length > 0 ? kept.map(showPod).join(', ') : undefined;
    this.#tell.manifestRead(manifestRead({ source: 'http', where: this.#url, keeps }, pods, all, kept));
    if (faults.length > 0) return undefined;
    const next = this.#next(pods);
    const before = this.#pods;
    this.#pods = next;
    return before !== undefined &&
      isDeepStrictEqual([...before.keys()], [...next.keys()]) &&
      [...next].every(([key, pod]) => before.get(key) === pod)
      ? undefined
      : [...next.values()];
  }

  failed(error: unknown): void {
    const fields = { url: this.#url, error };
    if (this.#faults.fault(this.#url, error)) this.#log.warn('manifest URL cannot be read: its pods stay as they are', fields);
    else this.#log.v(4, 'manifest URL still not read', fields);
  }

  #next(results: readonly StaticPodResult[]): ReadonlyMap<string, Pod> {
    const next = new Map<string, Pod>();
    let faulty = 0;
    for (const { key, pod, faults } of results) {
      const before = this.#pods?.get(key);
      if (faults.length > 0 && ++faulty <= MAX_FAULTY_LOGGED)
        logFaults(this.#log, this.#url, faults, before === undefined ? 'no pod' : key);
      const declared = pod === undefined || isDeepStrictEqual(pod, before) ? before : pod;
      if (declared === undefined) continue;
      if (next.has(key)) this.#log.error('pod declared twice: the first one runs, the other is ignored', { pod: key, url: this.#url });
      else next.set(key, declared);
    }
    if (faulty > MAX_FAULTY_LOGGED) {
      this.#log.error('more pods of the manifest refused', { url: this.#url, more: faulty - MAX_FAULTY_LOGGED });
    }
    // A faulty pod whose name cannot be read may be any of those that are missing now.
    if (results.some(({ key, pod }) => pod === undefined && key.endsWith('/'))) {
      for (const [key, pod] of this.#pods ?? []) if (!next.has(key)) next.set(key, pod);
    }
    return next;
  }
}

/** Of a list of thousands that are all faulty the first ones say what is wrong. */
const MAX_FAULTY_LOGGED = 50;

/** Without its credentials, which may be in its query, too. */
function shownUrl(url: string): string {
  const shown = URL.parse(url);
  if (shown === null) return 'a URL that cannot be read';
  shown.username = '';
  shown.password = '';
  if (shown.search !== '') shown.search = '[redacted]';
  return shown.href;
}
