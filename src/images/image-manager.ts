import type { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { dateOf } from '../base/moment.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { ContainerStartError, type ContainerStartReason } from '../model/container-start-error.ts';
import { formatGoDuration } from '../model/go-duration.ts';
import { quote } from '../model/go-text.ts';
import { applyDefaultImageTag } from '../model/image-name.ts';
import { type Container, type Pod, aboutPod } from '../model/pod.ts';
import { RegistryUnavailableError } from '../model/registry-unavailable-error.ts';
import { formatTime } from '../model/time.ts';
import type { EventReason, EventRecorder } from '../ports/event-recorder.ts';
import type { Happenings, ImageEnsured, ImagePulling } from '../ports/happenings.ts';
import type { ImagePuller } from '../ports/image-puller.ts';
import type { ImageInfo, ImageService } from '../ports/image-service.ts';
import type { Tracing } from '../ports/tracing.ts';
import type { Keyring, PullSecret } from './keyring.ts';
import type { PullQueue } from './pull-queue.ts';
import { PullReporter } from './pull-reporter.ts';
import type { ImageVerification } from './verification/image-verification.ts';
import type { TrackedCredentials } from './verification/pull-credentials.ts';
import { type Pulled, type PullRecorder, recordedPull } from './verification/recorded-pull.ts';

export interface ImageManagerDependencies {
  readonly images: Pick<ImageService, 'inspectImage'>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly keyring: Keyring;
  readonly tell: Pick<Happenings, 'noted' | 'imagePulled' | 'imagePulling' | 'imageEnsured'>;
  /** Each pull runs within it. */
  readonly tracing: Tracing;
  readonly pulls: Pick<PullQueue, 'pull'>;
  /** 10 s doubling to 300 s for the kubelet; keys are its own. */
  readonly backoff: Backoff;
  /** Which pods may use an image that is present without pulling it; undefined: every pod may, and nothing is recorded of pulls. */
  readonly verification?: (Pick<ImageVerification, 'mayUse'> & PullRecorder) | undefined;
  /** What the pod's imagePullSecrets hold, in their order; secrets that are not there are left out, which is reported unless `quietly`. */
  readonly pullSecrets: (pod: Pod, signal: AbortSignal, quietly?: boolean) => Promise<readonly PullSecret[]>;
}

/** Failures in a row of one image for one pod. */
interface Failures {
  readonly attempts: number;
  /** In words: an error holds what it was thrown in, the pod too. */
  readonly last: string;
  /** As status showed the last. */
  readonly shown: string;
  /** Of the last, on the clock's monotonic time. */
  readonly atMs: number;
}

/** What becomes known of an image while it is made present. */
type Found = { -readonly [K in keyof Omit<ImageEnsured, 'policy'>]: ImageEnsured[K] };

type CredentialsLookup = () => Promise<readonly TrackedCredentials[]>;

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
  const { images, events, clock, log, keyring, tell, tracing, pulls, backoff, verification, pullSecrets } = dependencies;
  const failures = new Map<string, Failures>();
  const backoffKey = ({ pod, name }: Ask): string => `${pod.metadata.uid}_${name}`;

  const record = ({ pod, container }: Pick<Ask, 'pod' | 'container'>, reason: EventReason, message: string): void => {
    const normal = reason === 'Pulling' || reason === 'Pulled' || reason === 'BackOff';
    events.record(pod, normal ? 'Normal' : 'Warning', reason, message, container.name);
  };

  const noted = ({ metadata: { uid } }: Pod, message: string, fields: Readonly<Record<string, unknown>>): void =>
    tell.noted({ uid, message, fields });

  const about = ({ pod, container, name }: Ask): Pick<ImagePulling, 'uid' | 'container' | 'image'> => ({
    uid: pod.metadata.uid,
    container: container.name,
    image: name,
  });

  /** By what the pod could pull the image, in the order to try. A credential provider may take a minute, and others may want the same answer. */
  const credentialsOf = async ({ pod, image }: Ask, signal: AbortSignal, quietly = false): Promise<readonly TrackedCredentials[]> =>
    unlessAborted(keyring.lookup(image, await pullSecrets(pod, signal, quietly), pod, signal), signal);

  const mayUse = async (ask: Ask, present: ImageInfo, lookup: CredentialsLookup, signal: AbortSignal): Promise<boolean> =>
    verification === undefined || verification.mayUse(ask.name, present, lookup, signal);

  /** What is there of an image that the registry is to be asked for in any case: nobody has looked yet. Undefined also where that cannot be said. */
  const idBefore = async ({ container, image }: Ask, present: ImageInfo | undefined, signal: AbortSignal): Promise<string | undefined> => {
    if (container.imagePullPolicy !== 'Always') return present?.id;
    return (await images.inspectImage(image, signal).catch(() => undefined))?.id;
  };

  const pull = async (
    ask: Ask,
    present: ImageInfo | undefined,
    lookup: CredentialsLookup,
    signal: AbortSignal,
    onStarted: () => void,
  ): Promise<string> => {
    const { pod, name, image } = ask;
    const note = (message: string, fields: Readonly<Record<string, unknown>>): void => noted(pod, message, fields);
    const reporter = new PullReporter({
      image,
      nowMs: () => clock.monotonicMs(),
      note: (message, progress) => {
        note(message, { image, ...progress });
        tell.imagePulling({ ...about(ask), stage: 'under way', ...progress });
      },
    });
    const credentials = await lookup();
    if (credentials.length === 0) log.v(3, 'pulling image without credentials', { image });
    const logins = credentials.map(({ username, password }) => ({ username, password }));
    const pulling = async (onBegun?: () => void): Promise<Pulled> => {
      const { id, usedIndex } = await pulls.pull(
        image,
        logins,
        {
          onQueued: (ahead) => {
            note(`pulling ${image}: waiting for ${ahead} other ${ahead === 1 ? 'pull' : 'pulls'}`, { image, ahead });
            tell.imagePulling({ ...about(ask), stage: 'waiting', ahead });
          },
          onStarted: () => {
            onBegun?.();
            onStarted();
            tell.imagePulling({ ...about(ask), stage: 'begun' });
          },
          onProgress: (progress) => reporter.report(progress),
        },
        signal,
      );
      return { id, used: usedIndex === undefined ? undefined : credentials[usedIndex] };
    };
    if (verification === undefined) return (await pulling()).id;
    return (await recordedPull(verification, { name, before: await idBefore(ask, present, signal) }, pulling, signal)).id;
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
    const { reason, message } = pullFailure(name, error);
    failures.set(key, { attempts, last: errorText(error), shown: `${reason}: ${message}`, atMs });
    const retryAtMs = atMs + backoff.get(key);
    const retryDateMs = dateOf(retryAtMs, clock);
    record(ask, 'Failed', `Failed to pull image ${quote(name)}: ${words}`);
    log.warn('image pull failed', { ...aboutPod(pod), image: name, attempt: attempts, retryAt: formatTime(retryDateMs), error });
    noted(pod, `pulling ${name}: attempt ${attempts} failed: ${words}`, {
      image: name,
      attempt: attempts,
      retryAtMs: retryDateMs,
    });
    tell.imagePulling({ ...about(ask), stage: 'failed', attempt: attempts, error: words, retryAtMs: retryDateMs });
    return new ContainerStartError(reason, message, { cause: error, retryAtMs });
  };

  const backingOff = (ask: Ask): ContainerStartError => {
    const { pod, name } = ask;
    const message = `Back-off pulling image ${quote(name)}`;
    record(ask, 'BackOff', message);
    const key = backoffKey(ask);
    const failure = failures.get(key);
    if (failure === undefined) return new ContainerStartError('ImagePullBackOff', message);
    const { attempts, last, shown, atMs } = failure;
    const retryAtMs = atMs + backoff.get(key);
    const retryDateMs = dateOf(retryAtMs, clock);
    const detail = `attempt ${attempts} failed: ${last}; next try at ${formatTime(retryDateMs)}`;
    noted(pod, `back-off pulling ${name}: ${detail}`, { image: name, attempt: attempts, retryAtMs: retryDateMs });
    tell.imagePulling({ ...about(ask), stage: 'backing off', attempt: attempts, error: last, retryAtMs: retryDateMs });
    return new ContainerStartError('ImagePullBackOff', `${message}: ${shown}`, { cause: new Error(detail), retryAtMs });
  };

  const inspect = async (ask: Ask, signal: AbortSignal): Promise<ImageInfo | undefined> => {
    try {
      return await images.inspectImage(ask.image, signal);
    } catch (error) {
      signal.throwIfAborted();
      // As the kubelet has it: what could not be looked at has no name.
      const message = `Failed to inspect image "": ${error instanceof Error ? error.message : String(error)}`;
      record(ask, 'InspectFailed', message);
      throw new ContainerStartError('ImageInspectError', message, { cause: error });
    }
  };

  /** 0 where the engine does not say: only an event is the poorer for it. */
  const sizeOf = async (id: string, signal: AbortSignal): Promise<number> =>
    images.inspectImage(id, signal).then(
      (image) => image?.sizeBytes ?? 0,
      () => 0,
    );

  const tellPresent = (ask: Ask): void =>
    record(
      ask,
      'Pulled',
      `Container image ${quote(ask.name)} already present on machine${verification === undefined ? '' : ' and can be accessed by the pod'}`,
    );

  const ensureImage = async (pod: Pod, container: Container, found: Found, signal: AbortSignal): Promise<string> => {
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
    const policy = container.imagePullPolicy;
    const present = policy === 'Always' ? undefined : await inspect(ask, signal);
    if (policy !== 'Always') found.isPresent = present !== undefined;
    const lookup = once(() => credentialsOf(ask, signal));
    if (present !== undefined && (await mayUse(ask, present, lookup, signal))) {
      found.isPullRequired = false;
      tellPresent(ask);
      return present.id;
    }
    // Of one that is not there, and is not to be pulled, the kubelet does not say it.
    if (present !== undefined || policy === 'Always' || policy === 'IfNotPresent') found.isPullRequired = true;
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
    let pullStartMs = startMs;
    let id: string;
    try {
      const work = { do: 'pull', image, container: container.name } as const;
      id = await tracing.within(work, () => pull(ask, present, lookup, signal, () => (pullStartMs = clock.monotonicMs())));
    } catch (error) {
      if (signal.aborted) {
        noted(pod, `pulling ${name}: stopped`, { image: name });
        tell.imagePulling({ ...about(ask), stage: 'stopped' });
        throw signal.reason;
      }
      throw failed(ask, error);
    }
    const tookMs = clock.monotonicMs() - startMs;
    const took = milliseconds(tookMs);
    const pulling = milliseconds(clock.monotonicMs() - pullStartMs);
    const size = await sizeOf(id, signal);
    tell.imagePulled({ uid: pod.metadata.uid, sizeBytes: size, tookMs });
    record(ask, 'Pulled', `Successfully pulled image ${quote(name)} in ${pulling} (${took} including waiting). Image size: ${size} bytes.`);
    log.info('image pulled', { ...aboutPod(pod), image: name, tookMs });
    noted(pod, `pulled ${name} in ${took}`, { image: name, tookMs });
    tell.imagePulling({ ...about(ask), stage: 'pulled' });
    failures.delete(key);
    collectGarbage();
    return id;
  };

  return {
    async presentImage(pod, container, signal) {
      if (container.imagePullPolicy === 'Always') return undefined;
      const name = container.image ?? '';
      const ask: Ask = { pod, container, name, image: applyDefaultImageTag(name) };
      const present = await images.inspectImage(ask.image, signal);
      // Where it may not be used, ensureImage asks again, and says what is wrong.
      if (present === undefined || !(await mayUse(ask, present, () => credentialsOf(ask, signal, true), signal))) return undefined;
      const told = (): void => {
        tellPresent(ask);
        tell.imageEnsured({ policy: container.imagePullPolicy, isPresent: true, isPullRequired: false });
      };
      return { ref: present.id, tell: told };
    },

    async ensureImage(pod, container, signal) {
      const found: Found = {};
      try {
        return await ensureImage(pod, container, found, signal);
      } finally {
        tell.imageEnsured({ policy: container.imagePullPolicy, ...found });
      }
    },
  };
}

/** Asks once, whoever wants to know. */
function once(lookup: CredentialsLookup): CredentialsLookup {
  let asked: ReturnType<CredentialsLookup> | undefined;
  return () => (asked ??= lookup());
}

const milliseconds = (ms: number): string => formatGoDuration(BigInt(Math.round(ms)) * 1_000_000n);

/** A failed pull in the words of status (evalCRIPullErr in pkg/kubelet/images). */
function pullFailure(name: string, error: unknown): { readonly reason: ContainerStartReason; readonly message: string } {
  const words = error instanceof Error ? error.message : String(error);
  const unavailable = 'RegistryUnavailable';
  if (error instanceof RegistryUnavailableError || words.startsWith(unavailable)) {
    const detail = words.startsWith(unavailable) ? words.slice(unavailable.length) : `: ${words}`;
    return { reason: unavailable, message: `image pull failed for ${name} because the registry is unavailable${detail}` };
  }
  const unsigned = 'SignatureValidationFailed';
  if (words.startsWith(unsigned)) {
    return {
      reason: unsigned,
      message: `image pull failed for ${name} because the signature validation failed${words.slice(unsigned.length)}`,
    };
  }
  return { reason: 'ErrImagePull', message: words };
}
