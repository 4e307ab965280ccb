import type { Observable } from 'rxjs';
import { anySignal } from '../base/any-signal.ts';
import { drainInto } from '../base/drain-into.ts';
import type { Logger } from '../base/logger.ts';
import type { KernelLog } from './kernel-log.ts';
import { type OomVictim, OomVictims } from './oom-victims.ts';

export interface SystemOomDeps {
  /** Throws where it cannot be read. */
  readonly open: () => KernelLog;
  /** When to look whether there is more. */
  readonly looks: Observable<unknown>;
  readonly tell: (victim: OomVictim) => void;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Of one look, against who writes without end. What is left is read by the next. */
const MOST_RECORDS = 50_000;
/** What is there at first: more than the largest log has room for. */
const MOST_OLD_RECORDS = 1_000_000;
/** Read without a break: less than a millisecond. */
const PIECE = 128;

/**
 * Tells of each process that the kernel kills for want of memory of the whole machine, from now until `signal` aborts. Where the kernel's log
 * cannot be read, this is logged once, and nothing is told.
 */
export async function watchSystemOoms({ open, looks, tell, log }: SystemOomDeps, signal: AbortSignal): Promise<void> {
  let kernel: KernelLog;
  try {
    kernel = open();
  } catch (error) {
    log.info('no event SystemOOM will tell whom the kernel kills: its log cannot be read', { error });
    return;
  }
  using until = anySignal(signal);
  const victims = new OomVictims();
  let reading: Promise<void> | undefined;
  const look = (each: (victim: OomVictim) => void, most = MOST_RECORDS): void => {
    reading ??= readAll(kernel, victims, each, most, until.signal)
      .catch((error: unknown) => {
        log.warn('no event SystemOOM will tell any more whom the kernel kills: its log cannot be read', { error });
        until.abort();
      })
      .finally(() => (reading = undefined));
  };
  // What happened before was told by the agent before.
  look(() => {}, MOST_OLD_RECORDS);
  try {
    await drainInto(looks, () => look(tell), until.signal);
  } finally {
    until.abort();
    await reading;
    kernel.close();
  }
}

async function readAll(
  kernel: KernelLog,
  victims: OomVictims,
  tell: (victim: OomVictim) => void,
  most: number,
  until: AbortSignal,
): Promise<void> {
  for (let read = 1; read <= most && !until.aborted; read++) {
    const record = kernel.next();
    if (record === undefined) return;
    const victim = victims.take(record);
    if (victim) tell(victim);
    if (read % PIECE === 0) await new Promise((others) => setImmediate(others));
  }
}
