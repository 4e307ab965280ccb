import type { Clock } from '../../../base/clock.ts';
import { type Deadline, deadline } from '../../../base/deadline.ts';
import { GrpcError, isGrpcError } from '../../../base/grpc/grpc-error.ts';
import { formatGoDuration } from '../../../model/go-duration.ts';
import { quote } from '../../../model/go-text.ts';
import type { RegistryCredentials } from '../../../ports/image-service.ts';
import { ImageService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';

export interface PullImageDeps {
  readonly client: Pick<CriClient, 'call'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule' | 'sleep'>;
  /** A pull is given up when its runtime answers nothing for so long, or does nothing. */
  readonly progressDeadlineMs: number;
  /** Of a runtime that does not look after the progress of its pulls itself. */
  readonly activity?: { look(): Promise<boolean> } | undefined;
}

/** Every call has a deadline: longer than an image takes on any line. */
const PULL_WITHIN_MS = 24 * 3_600_000;
/** So many times within the progress deadline the runtime is asked. */
const QUESTIONS = 4;

/**
 * Resolves with what the runtime calls the image. CRI has no word for the progress of a pull: most runtimes watch it themselves, and give up one
 * that makes none. What they cannot notice is that they hang, so they are asked for the image now and then as long as the pull lasts.
 */
export async function pullImage(
  deps: PullImageDeps,
  image: string,
  credentials: RegistryCredentials | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { client, clock, progressDeadlineMs } = deps;
  const last = { answerAtMs: clock.monotonicMs() };
  const noProgress = (): Error => {
    const duration = formatGoDuration(BigInt(Math.round(progressDeadlineMs * 1e6)));
    return new Error(
      `Cancel pulling image ${quote(image)} because of no progress for ${duration}: the container runtime ${
        clock.monotonicMs() - last.answerAtMs < progressDeadlineMs / 2
          ? 'downloads and unpacks nothing, the registry may hang'
          : 'answers nothing, look at its log'
      }`,
    );
  };
  using stop = deadline(clock, progressDeadlineMs, noProgress, signal);
  const questions = ask(deps, image, stop, last);
  try {
    const { username = '', password = '' } = credentials ?? {};
    // No server address: containerd takes credentials for that host alone, and these are for the image's.
    const auth = credentials && { username, password };
    const input = { image: { image }, ...(auth && { auth }) };
    const { imageRef } = await client.call(ImageService.method.pullImage, input, stop.signal, PULL_WITHIN_MS);
    return imageRef;
  } catch (error) {
    throw error instanceof GrpcError ? new Error(words(error), { cause: error }) : error;
  } finally {
    stop.abort();
    await questions;
  }
}

/** Until `stop` aborts. Keeps in `last` when it was answered. */
async function ask(
  { client, clock, progressDeadlineMs, activity }: PullImageDeps,
  image: string,
  stop: Deadline,
  last: { answerAtMs: number },
): Promise<void> {
  await activity?.look();
  while (!stop.signal.aborted) {
    try {
      await clock.sleep(progressDeadlineMs / QUESTIONS, stop.signal);
      await client.call(ImageService.method.imageStatus, { image: { image } }, stop.signal, progressDeadlineMs);
    } catch (error) {
      // A refusal is an answer, too.
      if (stop.signal.aborted || !(error instanceof GrpcError) || isGrpcError(error, 'Unavailable', 'DeadlineExceeded')) continue;
    }
    last.answerAtMs = clock.monotonicMs();
    if (activity === undefined || (await activity.look())) stop.extend(progressDeadlineMs);
  }
}

/** In the words of status and events, as a kubelet has them (pkg/kubelet/cri/remote/remote_image.go): a code that says nothing is left out. */
function words({ code, details }: GrpcError): string {
  return code === 'Unknown' ? details : `rpc error: code = ${code} desc = ${details}`;
}
