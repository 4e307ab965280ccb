import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { type Pod, aboutPod } from '../model/pod.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import type { PullSecret } from './keyring.ts';

export interface PullSecretsDeps {
  /** Where the pod's objects are; the pod is registered there. */
  readonly objectsOf: (pod: Pod) => Pick<ObjectStore, 'get'>;
  readonly events: EventRecorder;
  readonly log: Logger;
}

/**
 * What the pod's imagePullSecrets hold, in their order. A secret that cannot be read is recorded, and the pull is tried without it
 * (getPullSecretsForPod in pkg/kubelet); `quietly`: it is not, as it will be asked again.
 */
export function pullSecrets({
  objectsOf,
  events,
  log,
}: PullSecretsDeps): (pod: Pod, signal: AbortSignal, quietly?: boolean) => Promise<readonly PullSecret[]> {
  return async (pod, signal, quietly = false) => {
    const objects = objectsOf(pod);
    const { namespace } = pod.metadata;
    // Validation lets nameless ones pass.
    const names = (pod.spec.imagePullSecrets ?? []).flatMap(({ name }) => name || []);
    const read = async (name: string): Promise<PullSecret | undefined> => {
      try {
        return await objects.get({ kind: 'Secret', namespace, name }, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!quietly)
          log.info('image pull secret not read, pulling without it', { ...aboutPod(pod), secret: name, error: errorText(error) });
        return undefined;
      }
    };
    const found = await Promise.all(names.map(read));
    const missing = names.filter((_, i) => found[i] === undefined);
    if (missing.length > 0 && !quietly) {
      const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
      events.record(pod, 'Warning', 'FailedToRetrieveImagePullSecret', message);
    }
    return found.filter((secret) => secret !== undefined);
  };
}
