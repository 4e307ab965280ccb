import { errorText } from '../../base/error-text.ts';
import { quote } from '../../model/go-text.ts';
import type { ImageVerification } from './image-verification.ts';
import type { TrackedCredentials } from './pull-credentials.ts';

export interface Pulled {
  /** The engine's id of the image. */
  readonly id: string;
  /** What it worked with; undefined: without credentials. */
  readonly used: TrackedCredentials | undefined;
}

export type PullRecorder = Pick<ImageVerification, 'begins' | 'succeeded' | 'failed' | 'stopped'>;

/**
 * Pulls, with records of what comes of it. `before`: the id of the image of that name that is there already, if that is known. `pulling` says when
 * the engine begins. Rejects as `pulling`, and, before it is called, where no record can be written.
 */
export async function recordedPull(
  recorder: PullRecorder,
  { name, before }: { readonly name: string; readonly before: string | undefined },
  pulling: (onStarted: () => void) => Promise<Pulled>,
  signal: AbortSignal,
): Promise<Pulled> {
  await recorder.begins(name, before).catch((cause: unknown) => {
    throw new Error(`Failed to record image pull intent for container image ${quote(name)}: ${errorText(cause)}`, { cause });
  });
  let isStarted = false;
  try {
    const pulled = await pulling(() => (isStarted = true));
    await recorder.succeeded(name, pulled.id, pulled.used);
    return pulled;
  } catch (error) {
    // One that waits its turn has brought nothing.
    if (signal.aborted && isStarted) await recorder.stopped(name);
    else await recorder.failed(name);
    throw error;
  }
}
