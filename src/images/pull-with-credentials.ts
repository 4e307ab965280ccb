import { RegistryUnavailableError } from '../model/registry-unavailable-error.ts';
import type { ImageService, PullProgress, RegistryCredentials } from '../ports/image-service.ts';

export interface PulledImage {
  readonly id: string;
  /** Which of the credentials has worked; undefined: it was pulled without. */
  readonly usedIndex: number | undefined;
}

/** Pulls with the first credentials that work, anonymously when there are none. Rejects with what all of them met (kuberuntime_image.go). */
export async function pullWithCredentials(
  images: Pick<ImageService, 'pullImage'>,
  image: string,
  credentials: readonly RegistryCredentials[],
  onProgress: (progress: PullProgress) => void,
  signal: AbortSignal,
): Promise<PulledImage> {
  if (credentials.length === 0) return { id: await images.pullImage(image, undefined, onProgress, signal), usedIndex: undefined };
  const errors: unknown[] = [];
  for (const [usedIndex, one] of credentials.entries()) {
    try {
      return { id: await images.pullImage(image, one, onProgress, signal), usedIndex };
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error);
    }
  }
  throw combined(errors);
}

/** One error stays itself; several read "[a, b]" without repeats, as Kubernetes' aggregates do. */
function combined(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  const words = [...new Set(errors.map((e) => (e instanceof Error ? e.message : String(e))))];
  const message = words.length === 1 ? words.join() : `[${words.join(', ')}]`;
  const cause = new AggregateError(errors, message);
  return errors.every((e) => e instanceof RegistryUnavailableError)
    ? new RegistryUnavailableError(message, { cause })
    : new Error(message, { cause });
}
