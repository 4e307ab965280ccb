import type { Container, Pod } from '../model/pod.ts';

export interface PresentImage {
  /** The reference to run, as of `ensureImage`. */
  readonly ref: string;
  /** Records the event that `ensureImage` records. */
  tell(): void;
}

/** Makes a container's image present as its pull policy says. */
export interface ImagePuller {
  /** Resolves with the reference to run (the engine's image id). Rejects with ContainerStartError whose reason status shows; back-off keeps the last error's words. */
  ensureImage(pod: Pod, container: Container, signal: AbortSignal): Promise<string>;
  /** What `ensureImage` would find without a pull, not reported yet; undefined where it would pull or refuse. Rejects where that cannot be said. */
  presentImage(pod: Pod, container: Container, signal: AbortSignal): Promise<PresentImage | undefined>;
}
