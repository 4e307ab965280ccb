import { chance } from './base/chance.ts';
import type { Clock } from './base/clock.ts';
import type { Logger } from './base/logger.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';
import type { ContainerRuntime } from './ports/container-runtime.ts';
import type { ImageService } from './ports/image-service.ts';

export interface EnginePart {
  readonly runtime: ContainerRuntime;
  readonly imageService: ImageService;
  /** Why no pod can be connected to the pods' network now, in the kubelet's words; undefined: it works. */
  readonly networkFault: () => string | undefined;
  /** The engine lacks the pause image: the error names it. */
  readonly missingSandboxImage: (error: unknown) => string | undefined;
}

/** The engine behind --docker-endpoint: Docker, or the embedded one. Each is loaded only when it is asked for. */
export async function enginePart(options: KubeletOptions, clock: Clock, log: Logger): Promise<EnginePart> {
  const { fakeEndpointOptions } = await import('./fakeengine/fake-endpoint.ts');
  const fakeOptions = fakeEndpointOptions(options.dockerEndpoint);
  if (fakeOptions) {
    const { fakeEngine } = await import('./fakeengine/fake-engine.ts');
    const { runtime, images } = fakeEngine({ clock, log, ...fakeOptions });
    return { runtime, imageService: images, networkFault: () => undefined, missingSandboxImage: () => undefined };
  }
  const [{ engineClient }, { dockerRuntime }, { DockerImageService }, { SandboxImageMissingError }] = await Promise.all([
    import('./docker/engine-client.ts'),
    import('./docker/docker-runtime.ts'),
    import('./docker/docker-image-service.ts'),
    import('./docker/run-sandbox.ts'),
  ]);
  const client = engineClient({ endpoint: options.dockerEndpoint, clock, requestTimeoutMs: options.runtimeRequestTimeoutMs });
  const { rootDir, podInfraContainerImage, imagePullProgressDeadlineMs } = options;
  return {
    runtime: dockerRuntime({ client, clock, random: chance, log, rootDir, podInfraContainerImage }),
    imageService: new DockerImageService({ engine: client, clock, log, imagePullProgressDeadlineMs }),
    networkFault: () => undefined,
    missingSandboxImage: (error) => (error instanceof SandboxImageMissingError ? error.image : undefined),
  };
}
