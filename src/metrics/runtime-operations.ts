import type { Clock } from '../base/clock.ts';
import type { ContainerRuntime } from '../ports/container-runtime.ts';
import type { ImageService } from '../ports/image-service.ts';

export type OnOperation = (type: string, seconds: number, failed: boolean) => void;

/** The runtime, with each call counted under the name that the kubelet has for it (pkg/kubelet/kuberuntime/instrumented_services.go). */
export function observedRuntime(runtime: ContainerRuntime, clock: Pick<Clock, 'monotonicMs'>, onOperation: OnOperation): ContainerRuntime {
  const timed = timer(clock, onOperation);
  return {
    hints: runtime.hints,
    info: (signal) => timed('version', () => runtime.info(signal)),
    listPods: (signal) => timed('list_containers', () => runtime.listPods(signal)),
    observePod: (uid, signal) => timed('container_status', () => runtime.observePod(uid, signal)),
    runSandbox: (pod, spec, signal, onCreated) => timed('run_podsandbox', () => runtime.runSandbox(pod, spec, signal, onCreated)),
    createContainer: async (pod, sandbox, spec, signal) => {
      const created = await timed('create_container', () => runtime.createContainer(pod, sandbox, spec, signal));
      return { start: (now, startSignal) => timed('start_container', () => created.start(now, startSignal)) };
    },
    // One step where nothing was done ahead; the kubelet always makes it of two.
    startContainer: (pod, sandbox, spec, signal) => timed('start_container', () => runtime.startContainer(pod, sandbox, spec, signal)),
    stopContainer: (id, graceMs, signal) => timed('stop_container', () => runtime.stopContainer(id, graceMs, signal)),
    removeContainer: (id, signal) => timed('remove_container', () => runtime.removeContainer(id, signal)),
    stopSandbox: (id, signal) => timed('stop_podsandbox', () => runtime.stopSandbox(id, signal)),
    removeSandbox: (id, signal) => timed('remove_podsandbox', () => runtime.removeSandbox(id, signal)),
  };
}

/** As observedRuntime, for images. */
export function observedImages(images: ImageService, clock: Pick<Clock, 'monotonicMs'>, onOperation: OnOperation): ImageService {
  const timed = timer(clock, onOperation);
  return {
    inspectImage: (image, signal) => timed('image_status', () => images.inspectImage(image, signal)),
    listImages: (signal) => timed('list_images', () => images.listImages(signal)),
    pullImage: (image, credentials, onProgress, signal) =>
      timed('pull_image', () => images.pullImage(image, credentials, onProgress, signal)),
  };
}

function timer(clock: Pick<Clock, 'monotonicMs'>, onOperation: OnOperation): <T>(type: string, run: () => Promise<T>) => Promise<T> {
  return async (type, run) => {
    const startedAtMs = clock.monotonicMs();
    let failed = true;
    try {
      const result = await run();
      failed = false;
      return result;
    } finally {
      onOperation(type, (clock.monotonicMs() - startedAtMs) / 1000, failed);
    }
  };
}
