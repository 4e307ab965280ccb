import type { Container, Pod } from '../model/pod.ts';

/** Makes a container's image present as its pull policy says. */
export interface ImagePuller {
  /** Resolves with the reference to run (the engine's image id). Rejects with ContainerStartError whose reason status shows; back-off keeps the last error's words. */
  ensureImage(pod: Pod, container: Container, signal: AbortSignal): Promise<string>;
}
