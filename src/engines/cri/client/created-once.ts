import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import { GrpcError } from '../../../base/grpc/grpc-error.ts';

/** A create that was given up on holds its name for a while before the runtime shows what it made. */
const PATIENCE_MS = [100, 400, 1500] as const;

export interface Creation<H extends { readonly id: string }> {
  readonly create: () => Promise<string>;
  /** What has the same name: left by a create whose answer was lost, or by an agent that crashed. */
  readonly holder: () => Promise<H | undefined>;
  /** Whether it is taken in place of a new one. */
  readonly fits: (holder: H) => Promise<boolean>;
  readonly remove: (holder: H) => Promise<void>;
}

export interface CreationReport {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Pick<Logger, 'info'>;
  /** "sandbox" */
  readonly what: string;
}

/** Resolves with the id of what was created, or was there and fits. CRI has no code for a name that is taken: after any failure it is looked for. */
export async function createdOnce<H extends { readonly id: string }>(
  { create, holder, fits, remove }: Creation<H>,
  { clock, log, what }: CreationReport,
  signal: AbortSignal,
): Promise<string> {
  for (let failures = 0; ; failures++) {
    try {
      return await create();
    } catch (error) {
      signal.throwIfAborted();
      const waitMs = PATIENCE_MS[failures];
      if (!(error instanceof GrpcError) || !error.connected || waitMs === undefined) throw error;
      const found = await holder().catch(() => {
        throw error;
      });
      if (found === undefined) {
        if (!isNameTaken(error)) throw error;
        await clock.sleep(waitMs, signal);
      } else if (await fits(found)) {
        log.info(`${what} that had the name of a new one adopted`, { id: found.id });
        return found.id;
      } else {
        log.info(`${what} that had the name of a new one replaced`, { id: found.id });
        await remove(found);
      }
    }
  }
}

/** In the words of containerd and of CRI-O. */
const isNameTaken = ({ details }: GrpcError): boolean => /is reserved for|name is reserved|already in use/.test(details);
