import type { Clock } from '../base/clock.ts';
import { isJsonObject } from '../base/json-object.ts';
import type { Logger } from '../base/logger.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { withDeadline } from '../base/with-deadline.ts';
import { formatTime, parseTime } from '../model/time.ts';
import type { NodeShutdownTimes } from '../ports/happenings.ts';
import type { StateFile, StateFiles } from '../ports/state-files.ts';

/** As the kubelet writes it (pkg/kubelet/nodeshutdown). */
interface Saved {
  readonly startTime: string;
  readonly endTime: string;
}

/** Go's time that is none. */
const NEVER = '0001-01-01T00:00:00Z';
/** The machine waits. */
const SAVE_WITHIN_MS = 1_000;

/** When the node's last graceful shutdown began and ended, in the kubelet's own file and form: what the metrics say outlives the machine's restart. */
export class ShutdownTimes {
  readonly #file: StateFile<Saved>;
  readonly #clock: Pick<Clock, 'schedule' | 'monotonicMs'>;
  readonly #log: Logger;

  constructor(files: StateFiles, { clock, log }: { readonly clock: Pick<Clock, 'schedule' | 'monotonicMs'>; readonly log: Logger }) {
    this.#clock = clock;
    this.#file = files.open('graceful_node_shutdown_state', decode);
    this.#log = log;
  }

  load(): NodeShutdownTimes {
    const { startTime, endTime } = this.#file.load() ?? { startTime: NEVER, endTime: NEVER };
    const atMs = (text: string): number | undefined => (text === NEVER ? undefined : parseTime(text));
    return { startedAtMs: atMs(startTime), endedAtMs: atMs(endTime) };
  }

  /** Resolves once they are safe on the disk, or cannot be saved, or the disk has not answered for a second. */
  async save({ startedAtMs, endedAtMs }: NodeShutdownTimes, signal: AbortSignal): Promise<void> {
    const text = (atMs: number | undefined): string => (atMs === undefined ? NEVER : formatTime(atMs));
    const saved = this.#file.save({ startTime: text(startedAtMs), endTime: text(endedAtMs) });
    try {
      await withDeadline(this.#clock, SAVE_WITHIN_MS, 'saving', signal, (within) => unlessAborted(saved, within));
    } catch (error) {
      if (!signal.aborted) this.#log.warn('times of the shutdown not saved: metrics do not tell of it after a restart', { error });
    }
  }
}

function decode(json: unknown): Saved | undefined {
  if (!isJsonObject(json)) return undefined;
  const { startTime, endTime } = json;
  return typeof startTime === 'string' && typeof endTime === 'string' ? { startTime, endTime } : undefined;
}
