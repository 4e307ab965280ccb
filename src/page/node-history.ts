import { errorText } from '../base/error-text.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { withDeadline } from '../base/with-deadline.ts';
import type { NodeHistoryAnswer, NodeHistoryColumns } from '../model/node-history.ts';
import type { NodeUsage, PressureStats } from '../ports/pod-stats.ts';

const EVERY_MS = 10_000;
const HOUR_MS = 3_600_000;
const MOST_SAMPLES = HOUR_MS / EVERY_MS;
/** More than reading a few files of /proc takes. */
const MEASURED_WITHIN_MS = 5_000;

type Measured = Pick<NodeUsage, 'cpu' | 'memory' | 'fs' | 'pressure'>;
type Sample = { readonly [Name in keyof NodeHistoryColumns]: NodeHistoryColumns[Name][number] };

export interface NodeHistoryDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Of the machine. */
  readonly cores: number;
  /** Sampled from the start, and for as long as the agent runs; else from when somebody looks until nobody has for an hour. */
  readonly always: boolean;
}

/** What the node used over the last hour, a sample each ten seconds, where somebody wants to see it. */
export class NodeHistory {
  readonly #deps: NodeHistoryDeps;
  readonly #samples: Sample[] = [];
  #before: { readonly atMs: number; readonly used: Measured } | undefined;
  #memoryBytes: number | null = null;
  #diskBytes: number | null = null;
  #lookedAtMs: number | undefined;
  #looked = Promise.withResolvers<void>();

  constructor(deps: NodeHistoryDeps) {
    this.#deps = deps;
  }

  /** What is known now; it is wanted from now on. */
  look(): NodeHistoryAnswer {
    this.#lookedAtMs = this.#deps.clock.monotonicMs();
    this.#looked.resolve();
    const column = <Name extends keyof Sample>(name: Name): readonly Sample[Name][] => this.#samples.map((sample) => sample[name]);
    return {
      everyMs: EVERY_MS,
      cores: this.#deps.cores,
      memoryBytes: this.#memoryBytes,
      diskBytes: this.#diskBytes,
      samples: {
        atMs: column('atMs'),
        cpuCores: column('cpuCores'),
        memoryUsed: column('memoryUsed'),
        diskUsed: column('diskUsed'),
        cpuWaited: column('cpuWaited'),
        memoryWaited: column('memoryWaited'),
        ioWaited: column('ioWaited'),
      },
    };
  }

  /** Samples while that is wanted, until the signal aborts. */
  async run(measure: (signal: AbortSignal) => Promise<Measured>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    while (!signal.aborted) {
      if (!this.#isWanted()) {
        this.#looked = Promise.withResolvers();
        this.#before = undefined;
        await unlessAborted(this.#looked.promise, signal).catch(() => undefined);
        continue;
      }
      await this.#sample(measure, signal);
      await clock.sleep(EVERY_MS, signal).catch(() => undefined);
    }
  }

  #isWanted(): boolean {
    const { always, clock } = this.#deps;
    return always || (this.#lookedAtMs !== undefined && clock.monotonicMs() - this.#lookedAtMs < HOUR_MS);
  }

  async #sample(measure: (signal: AbortSignal) => Promise<Measured>, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    let used: Measured;
    try {
      used = await withDeadline(clock, MEASURED_WITHIN_MS, 'measuring the machine', signal, measure);
    } catch (error) {
      if (!signal.aborted) log.v(2, 'node not measured', { error: errorText(error) });
      return;
    }
    const now = { atMs: clock.monotonicMs(), used };
    this.#samples.push(sampleOf(clock.now(), now, this.#before));
    if (this.#samples.length > MOST_SAMPLES) this.#samples.shift();
    this.#before = now;
    const { memory, fs } = used;
    this.#memoryBytes = memory?.availableBytes === undefined ? this.#memoryBytes : memory.workingSetBytes + memory.availableBytes;
    this.#diskBytes = fs?.capacityBytes ?? this.#diskBytes;
  }
}

interface At {
  readonly atMs: number;
  readonly used: Measured;
}

function sampleOf(dateMs: number, { atMs, used }: At, before: At | undefined): Sample {
  const passedMs = before === undefined ? 0 : atMs - before.atMs;
  /** What a counter grew by in a millisecond. */
  const grown = (now: number | undefined, then: number | undefined): number | null =>
    now === undefined || then === undefined || passedMs <= 0 || now < then ? null : (now - then) / passedMs;
  const waited = (of: Exclude<keyof PressureStats, 'atMs'>): number | null => {
    const usPerMs = grown(used.pressure?.[of]?.some.totalUs, before?.used.pressure?.[of]?.some.totalUs);
    return usPerMs === null ? null : rounded(Math.min(100, usPerMs / 10), 2);
  };
  const nanosPerMs = grown(used.cpu?.usageCoreNanoSeconds, before?.used.cpu?.usageCoreNanoSeconds);
  return {
    atMs: dateMs,
    cpuCores: nanosPerMs === null ? null : rounded(nanosPerMs / 1e6, 3),
    memoryUsed: used.memory?.workingSetBytes ?? null,
    diskUsed: used.fs?.usedBytes ?? null,
    cpuWaited: waited('cpu'),
    memoryWaited: waited('memory'),
    ioWaited: waited('io'),
  };
}

const rounded = (value: number, digits: number): number => Math.round(value * 10 ** digits) / 10 ** digits;
