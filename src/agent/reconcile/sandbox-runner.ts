import { SandboxImageMissingError } from '../../model/sandbox-image-missing-error.ts';
import type { ContainerRuntime } from '../../ports/container-runtime.ts';
import type { ImagePuller } from '../../ports/image-puller.ts';

/** The sandbox's image is pulled when the engine turns out to lack it, so that no sandbox pays for asking. */
export function sandboxRunner(runtime: ContainerRuntime, images: ImagePuller): ContainerRuntime['runSandbox'] {
  return async (pod, spec, signal, onCreated) => {
    try {
      return await runtime.runSandbox(pod, spec, signal, onCreated);
    } catch (error) {
      if (!(error instanceof SandboxImageMissingError)) throw error;
      await images.ensureImage(pod, { name: 'POD', image: error.image, imagePullPolicy: 'IfNotPresent' }, signal);
      return runtime.runSandbox(pod, spec, signal, onCreated);
    }
  };
}
