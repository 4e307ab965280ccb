import type { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { dateOf } from '../base/moment.ts';
import { ContainerStartError } from '../model/container-start-error.ts';
import { formatGoDuration } from '../model/go-duration.ts';
import { quote } from '../model/go-text.ts';
import { applyDefaultImageTag } from '../model/image-name.ts';
import { type Container, type Pod, showPod } from '../model/pod.ts';
import { RegistryUnavailableError } from '../model/registry-unavailable-error.ts';
import { formatTime } from '../model/time.ts';
import type { EventReason, EventRecorder } from '../ports/event-recorder.ts';
import type { ImagePuller } from '../ports/image-puller.ts';
import type { ImageInfo, ImageService } from '../ports/image-service.ts';
import type { Trace } from '../ports/pod-plan.ts';
import type { Keyring, PullSecret } from './keyring.ts';
import type { PullQueue } from './pull-queue.ts';
import { PullReporter } from './pull-reporter.ts';

export interface ImageManagerDependencies {
  readonly images: Pick<ImageService, 'inspectImage'>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly keyring: Keyring;
  readonly trace: Pick<Trace, 'note'>;
  readonly pulls: Pick<PullQueue, 'pull'>;
  /** 10 s doubling to 300 s for the kubelet; keys are its own. */
  readonly backoff: Backoff;
  /** What the pod's imagePullSecrets hold, in their order; secrets that are not there are left out. */
  readonly pullSecrets: (pod: Pod, signal: AbortSignal) => Promise<readonly PullSecret[]>;
}

/** Failures in a row of one image for one pod. */
interface Failures {
  readonly attempts: number;
  readonly last: unknown;
  /** Of the last, on the clock's monotonic time. */
  readonly atMs: number;
}

/** One container's image, and where its news goes. */
interface Ask {
  readonly pod: Pod;
  readonly container: Container;
  /** As the pod names it: events and status quote this. */
  readonly name: string;
  /** With the default tag: what the engine is asked for. */
  readonly image: string;
}

/**
 * The kubelet's EnsureImageExists (pkg/kubelet/images/image_manager.go): same decisions, reasons, messages and events. What is new: an image
 * that is there never waits for anybody's pull, a back-off remembers why, and an aborted pull counts as no failure.
 */
export function imageManager(dependencies: ImageManagerDependencies): ImagePuller {
  const { images, events, clock, log, keyring, trace, pulls, backoff, pullSecrets } = dependencies;
  const failures = new Map<string, Failures>();
  const backoffKey = ({ pod, name }: Ask): string => `${pod.metadata.uid}_${name}`;

  const record = ({ pod, container }: Pick<Ask, 'pod' | 'container'>, reason: EventReason, message: string): void => {
    const normal = reason === 'Pulling' || reason === 'Pulled' || reason === 'BackOff';
    events.record(pod, normal ? 'Normal' : 'Warning', reason, message, container.name);
  };

  const pull = async (ask: Ask, signal: AbortSignal): Promise<string> => {
    const { pod, image } = ask;
    const note = (message: string, fields: Readonly<Record<string, unknown>>): void => trace.note(pod.metadata.uid, message, fields);
    const reporter = new PullReporter({ image, nowMs: () => clock.monotonicMs(), note });
    const credentials = await keyring.lookup(image, await pullSecrets(pod, signal));
    if (credentials.length === 0) log.v(3, 'pulling image without credentials', { image });
    return pulls.pull(
      image,
      credentials,
      {
        onQueued: (ahead) => note(`pulling ${image}: waiting for ${ahead} other ${ahead === 1 ? 'pull' : 'pulls'}`, { image, ahead }),
        onProgress: (progress) => reporter.report(progress),
      },
      signal,
    );
  };

  /** Forgets what the back-off has forgotten: pods go, their failures with them. */
  const collectGarbage = (): void => {
    backoff.gc();
    for (const key of failures.keys()) if (backoff.get(key) === 0) failures.delete(key);
  };

  /** Takes note of a failed pull and puts it into the words of status and events. */
  const failed = (ask: Ask, error: unknown): ContainerStartError => {
    const { pod, name } = ask;
    const words = error instanceof Error ? error.message : String(error);
    const key = backoffKey(ask);
    const atMs = clock.monotonicMs();
    collectGarbage();
    backoff.next(key, atMs);
    const attempts = (failures.get(key)?.attempts ?? 0) + 1;
    failures.set(key, { attempts, last: error, atMs });
    const retryAtMs = atMs + backoff.get(key);
    const retryDateMs = dateOf(retryAtMs, clock);
    record(ask, 'Failed', `Failed to pull image ${quote(name)}: ${words}`);
    log.warn('image pull failed', { pod: showPod(pod), image: name, attempt: attempts, retryAt: formatTime(retryDateMs), error });
    trace.note(pod.metadata.uid, `pulling ${name}: attempt ${attempts} failed: ${words}`, {
      image: name,
      attempt: attempts,
      retryAtMs: retryDateMs,
    });
    return error instanceof RegistryUnavailableError
      ? new ContainerStartError('RegistryUnavailable', `image pull failed for ${name} because the registry is unavailable.`, {
          cause: error,
          retryAtMs,
        })
      : new ContainerStartError('ErrImagePull', words, { cause: error, retryAtMs });
  };

  const backingOff = (ask: Ask): ContainerStartError => {
    const { pod, name } = ask;
    const message = `Back-off pulling image ${quote(name)}`;
    record(ask, 'BackOff', message);
    const key = backoffKey(ask);
    const failure = failures.get(key);
    if (failure === undefined) return new ContainerStartError('ImagePullBackOff', message);
    const { attempts, last, atMs } = failure;
    const retryAtMs = atMs + backoff.get(key);
    const retryDateMs = dateOf(retryAtMs, clock);
    const detail = `attempt ${attempts} failed: ${errorText(last)}; next try at ${formatTime(retryDateMs)}`;
    trace.note(pod.metadata.uid, `back-off pulling ${name}: ${detail}`, { image: name, attempt: attempts, retryAtMs: retryDateMs });
    return new ContainerStartError('ImagePullBackOff', message, { cause: new Error(detail, { cause: last }), retryAtMs });
  };

  const inspect = async (ask: Ask, signal: AbortSignal): Promise<ImageInfo | undefined> => {
    try {
      return await images.inspectImage(ask.image, signal);
    } catch (error) {
      signal.throwIfAborted();
      const message = `Failed to inspect image ${quote(ask.name)}: ${error instanceof Error ? error.message : String(error)}`;
      record(ask, 'InspectFailed', message);
      throw new ContainerStartError('ImageInspectError', message, { cause: error });
    }
  };

  const tellPresent = (ask: Ask): void => record(ask, 'Pulled', `Container image ${quote(ask.name)} already present on machine`);

  return {
    async presentImage(pod, container, signal) {
      if (container.imagePullPolicy === 'Always') return undefined;
      const name = container.image ?? '';
      const ask: Ask = { pod, container, name, image: applyDefaultImageTag(name) };
      const present = await images.inspectImage(ask.image, signal);
      return present && { ref: present.id, tell: () => tellPresent(ask) };
    },

    async ensureImage(pod, container, signal) {
      const name = container.image ?? '';
      let image: string;
      try {
        image = applyDefaultImageTag(name);
      } catch (error) {
        const message = `Failed to apply default image tag ${quote(name)}: ${errorText(error)}`;
        record({ pod, container }, 'InspectFailed', message);
        throw new ContainerStartError('InvalidImageName', message, { cause: error });
      }
      const ask: Ask = { pod, container, name, image };
      const present = await inspect(ask, signal);
      const policy = container.imagePullPolicy;
      if (policy !== 'Always' && present !== undefined) {
        tellPresent(ask);
        return present.id;
      }
      // Only a pod that skipped defaulting has no policy; the kubelet takes that for Never.
      if (policy !== 'Always' && policy !== 'IfNotPresent') {
        const message = `Container image ${quote(name)} is not present with pull policy of Never`;
        record(ask, 'ErrImageNeverPull', message);
        throw new ContainerStartError('ErrImageNeverPull', message);
      }
      const key = backoffKey(ask);
      const startMs = clock.monotonicMs();
      if (backoff.isInBackOffSinceUpdate(key, startMs)) throw backingOff(ask);
      record(ask, 'Pulling', `Pulling image ${quote(name)}`);
      let id: string;
      try {
        id = await pull(ask, signal);
      } catch (error) {
        if (signal.aborted) {
          trace.note(pod.metadata.uid, `pulling ${name}: stopped`, { image: name });
          throw signal.reason;
        }
        throw failed(ask, error);
      }
      const tookMs = clock.monotonicMs() - startMs;
      const took = formatGoDuration(BigInt(Math.round(tookMs)) * 1_000_000n);
      record(ask, 'Pulled', `Successfully pulled image ${quote(name)} in ${took}`);
      log.info('image pulled', { pod: showPod(pod), image: name, tookMs });
      trace.note(pod.metadata.uid, `pulled ${name} in ${took}`, { image: name, tookMs });
      failures.delete(key);
      collectGarbage();
      return id;
    },
  };
}
