import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { type StaticManifest, type StaticPodOptions, staticPodReader, type StaticPodResult } from './read-static-pods.ts';

/** Never rejects. */
export type ReadManifest = (manifest: Uint8Array) => Promise<StaticManifest>;

/** What a thread of its own sends: first some pods at a time, each answered before the next, then the rest. */
export type ManifestPart = readonly StaticPodResult[] | Omit<StaticManifest, 'pods'>;

export interface ManifestWork {
  readonly options: StaticPodOptions;
  readonly manifest: Uint8Array;
}

/** Larger manifests are read by a thread of their own: a MiB of YAML takes about 0.7 s, one of JSON about 0.15 s. */
const MAX_HERE_BYTES = 64 * 1024;
/** 10 MiB of YAML take about 7 s where nothing else is to be done. */
const DEADLINE_MS = 120_000;
/** 10 MiB of YAML take about 1 GiB. */
const MAX_HEAP_MIB = 2048;

/** Reads manifests so that none, however it is written, holds up the agent for longer than a tenth of a second or takes all of its memory. */
export function manifestReader(options: StaticPodOptions, clock: Pick<Clock, 'schedule'>): ReadManifest {
  const read = staticPodReader(options);
  return async (manifest) => (manifest.byteLength <= MAX_HERE_BYTES ? read(manifest) : readApart({ options, manifest }, clock));
}

async function readApart(work: ManifestWork, clock: Pick<Clock, 'schedule'>): Promise<StaticManifest> {
  const worker = new Worker(workerUrl(), { workerData: work, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB } });
  const over = new AbortController();
  const deadline = clock.schedule(() => over.abort(new Error(`reading it took longer than ${DEADLINE_MS / 1000} s`)), DEADLINE_MS);
  const pods: StaticPodResult[] = [];
  try {
    for (;;) {
      const [part] = (await once(worker, 'message', { signal: over.signal })) as [ManifestPart];
      if ('faults' in part) return { ...part, pods };
      for (const pod of part) pods.push(pod);
      // eslint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
      worker.postMessage('next');
    }
  } catch (error) {
    const why = over.signal.aborted ? over.signal.reason : error;
    const detail = isOutOfMemory(error) ? `reading it takes more than ${MAX_HEAP_MIB} MiB of memory` : errorText(why);
    return { pods: [], objects: [], warnings: [], faults: [{ type: 'unreadable', field: '', detail, line: 1, column: 1 }] };
  } finally {
    deadline.unsubscribe();
    await worker.terminate();
  }
}

const isOutOfMemory = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';

/** Beside this file, be it a source or a bundle. */
const workerUrl = (): URL => new URL(`./manifest-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
