import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { withDeadline } from '../base/with-deadline.ts';
import type { FilesystemLayout } from '../model/eviction/container-fs-thresholds.ts';
import type { Signal } from '../model/eviction/threshold.ts';
import type { Reclaimer } from '../ports/node-participant.ts';

type Resource = Reclaimer['resource'];

const RECLAIM_WITHIN_MS = 120_000;

/** Frees what no pod needs, before any pod has to go. */
export class NodeReclaim {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #reclaimers: readonly Reclaimer[];
  readonly #underWay = new Set<Reclaimer>();

  constructor(reclaimers: readonly Reclaimer[], { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#reclaimers = reclaimers;
    this.#clock = clock;
    this.#log = log;
  }

  /** Resolves with whether anything was tried. One that does not end in time is left alone until it has. */
  async reclaim(signal: Signal, layout: FilesystemLayout, stop: AbortSignal): Promise<boolean> {
    const resources = resourcesFor(signal, layout);
    const wanted = resources.flatMap((resource) => this.#reclaimers.filter((each) => each.resource === resource));
    for (const reclaimer of wanted) if (!this.#underWay.has(reclaimer)) await this.#one(reclaimer, stop);
    return wanted.length > 0;
  }

  async #one(reclaimer: Reclaimer, stop: AbortSignal): Promise<void> {
    const { name, resource } = reclaimer;
    try {
      const freedBytes = await withDeadline(this.#clock, RECLAIM_WITHIN_MS, `freeing ${resource} by ${name}`, stop, (within) =>
        unlessAborted(this.#begin(reclaimer, within), within),
      );
      this.#log.info('freed what no pod needs', { resource, by: name, ...(freedBytes !== undefined && { freedBytes }) });
    } catch (error) {
      stop.throwIfAborted();
      this.#log.warn('what no pod needs cannot be freed, going on without', { resource, by: name, error });
    }
  }

  async #begin(reclaimer: Reclaimer, within: AbortSignal): Promise<number | undefined> {
    this.#underWay.add(reclaimer);
    try {
      return await reclaimer.reclaim(within);
    } finally {
      this.#underWay.delete(reclaimer);
    }
  }
}

/** What lies on the file system that the signal is about, in the order in which it is freed (buildSignalToNodeReclaimFuncs). */
function resourcesFor(signal: Signal, { imageFs, splitFs }: FilesystemLayout): readonly Resource[] {
  switch (signal) {
    case 'memory.available':
    case 'allocatableMemory.available':
    case 'pid.available':
      return [];
    case 'nodefs.available':
    case 'nodefs.inodesFree':
      if (!imageFs) return ['nodefs', 'containerfs', 'imagefs'];
      return splitFs ? ['nodefs', 'containerfs'] : ['nodefs'];
    case 'imagefs.available':
    case 'imagefs.inodesFree':
      if (!imageFs) return ['nodefs', 'containerfs', 'imagefs'];
      return splitFs ? ['imagefs'] : ['containerfs', 'imagefs'];
    case 'containerfs.available':
    case 'containerfs.inodesFree':
      if (!imageFs) return ['nodefs', 'containerfs', 'imagefs'];
      return splitFs ? ['nodefs', 'containerfs'] : ['containerfs', 'imagefs'];
    default:
      return signal satisfies never;
  }
}
