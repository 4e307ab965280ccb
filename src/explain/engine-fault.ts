import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { withDeadline } from '../base/with-deadline.ts';
import type { ContainerRuntime } from '../ports/container-runtime.ts';

const WITHIN_MS = 3_000;

/** Why the engine does not answer, asked now: its health is reported only minutes after it has gone. Undefined: it answers. Never rejects. */
export async function engineFault(
  runtime: Pick<ContainerRuntime, 'listPods'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await withDeadline(clock, WITHIN_MS, 'listing the pods of the engine', signal, (within) => runtime.listPods(within));
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
