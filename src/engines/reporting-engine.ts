import type { Clock } from '../base/clock.ts';
import type { ContainerRuntime } from '../ports/container-runtime.ts';
import type { Engine } from '../ports/engine.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { ImageService } from '../ports/image-service.ts';
import type { Tracing } from '../ports/tracing.ts';

export interface ReportedBy {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly tell: Pick<Happenings, 'runtimeOperated'>;
  readonly tracing: Tracing;
}

/** The engine, with each verb of its runtime and its images traced, and reported when it ends. */
export function reportingEngine(engine: Engine, by: ReportedBy): Engine {
  return { ...engine, runtime: reportingRuntime(engine.runtime, by), images: reportingImages(engine.images, by) };
}

/** Each verb under the name that the kubelet has for it (pkg/kubelet/kuberuntime/instrumented_services.go). */
export function reportingRuntime(runtime: ContainerRuntime, by: ReportedBy): ContainerRuntime {
  const timed = timer(by);
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
    updateContainer: (id, pod, container, change, signal) =>
      timed('update_container', () => runtime.updateContainer(id, pod, container, change, signal)),
    removeContainer: (id, signal) => timed('remove_container', () => runtime.removeContainer(id, signal)),
    stopSandbox: (id, signal) => timed('stop_podsandbox', () => runtime.stopSandbox(id, signal)),
    removeSandbox: (id, signal) => timed('remove_podsandbox', () => runtime.removeSandbox(id, signal)),
  };
}

/** As reportingRuntime, for images. */
export function reportingImages(images: ImageService, by: ReportedBy): ImageService {
  const timed = timer(by);
  return {
    inspectImage: (image, signal) => timed('image_status', () => images.inspectImage(image, signal)),
    listImages: (signal) => timed('list_images', () => images.listImages(signal)),
    pullImage: (image, credentials, onProgress, signal) =>
      timed('pull_image', () => images.pullImage(image, credentials, onProgress, signal)),
    imagesInUse: (signal) => timed('list_containers', () => images.imagesInUse(signal)),
    removeImage: (id, signal) => timed('remove_image', () => images.removeImage(id, signal)),
    // No kubelet has it.
    exportImage: (imageRef, directory, maxBytes, signal) => images.exportImage(imageRef, directory, maxBytes, signal),
  };
}

function timer({ clock, tell, tracing }: ReportedBy): <T>(operation: string, run: () => Promise<T>) => Promise<T> {
  return async (operation, run) => {
    const startedAtMs = clock.monotonicMs();
    let failed = true;
    try {
      const result = await tracing.within({ do: 'operate', operation }, run);
      failed = false;
      return result;
    } finally {
      tell.runtimeOperated({ operation, tookMs: clock.monotonicMs() - startedAtMs, failed });
    }
  };
}
