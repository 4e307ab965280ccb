import type { Container, Pod } from '../../model/pod.ts';
import type { ContainerRuntime, ContainerSpec, CreatedContainer, ObservedPod, SandboxId } from '../../ports/container-runtime.ts';
import type { ImagePuller, PresentImage } from '../../ports/image-puller.ts';
import { mountsImages } from './image-volumes.ts';
import { newestOf } from './instances.ts';

/** The container that is started next, created while its sandbox started. */
export interface StartAhead {
  readonly name: string;
  readonly image: PresentImage;
  readonly created: CreatedContainer;
}

export interface StartAheadDeps {
  readonly runtime: Pick<ContainerRuntime, 'createContainer'>;
  readonly images: Pick<ImagePuller, 'presentImage'>;
  /** Rejects where the container is made of what only a running sandbox knows, such as the pod's address. */
  readonly containerSpec: (pod: Pod, container: Container, imageRef: string, signal: AbortSignal) => Promise<ContainerSpec>;
}

/**
 * Creates a container in a sandbox that is being started, and reports nothing. Undefined where that waits for the sandbox: the image is not
 * there, a part of a volume or another image is to be shown, or it did not work, now or the last time; the start does it in its turn, and tells why not.
 */
export async function startAhead(
  { runtime, images, containerSpec }: StartAheadDeps,
  { pod, container, sandbox, observed }: { pod: Pod; container: Container; sandbox: SandboxId; observed: ObservedPod },
  signal: AbortSignal,
): Promise<StartAhead | undefined> {
  const { name } = container;
  // Its sandbox did not start the last time: nothing is made again and again for one that never does.
  if (newestOf(observed, name)?.state.phase === 'created') return undefined;
  if (mountsImages(pod, container)) return undefined;
  if (container.volumeMounts?.some(({ subPath, subPathExpr }) => subPath || subPathExpr)) return undefined;
  try {
    const image = await images.presentImage(pod, container, signal);
    if (image === undefined) return undefined;
    const spec = await containerSpec(pod, container, image.ref, signal);
    return { name, image, created: await runtime.createContainer(pod, sandbox, spec, signal) };
  } catch {
    return undefined;
  }
}
