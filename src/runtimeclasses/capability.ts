import { errorText } from '../base/error-text.ts';
import { isNotFound } from '../model/api-error.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';

interface RuntimeClass {
  readonly handler: string;
}

/**
 * A pod runs by the handler of the engine that its RuntimeClass names (pkg/kubelet/runtimeclass). Where the class or the handler is not there,
 * its sandbox is not made, and is tried again. A container runs by the same handler as its sandbox, whatever became of the class meanwhile.
 */
export function capability({ cluster }: Pick<NodeParts, 'cluster'>): Contribution {
  const handlers = new Map<PodUid, string>();
  const lookUp = async ({ metadata: { uid }, spec: { runtimeClassName = '' } }: Pod, signal: AbortSignal): Promise<string> => {
    const path = `/apis/node.k8s.io/v1/runtimeclasses/${encodeURIComponent(runtimeClassName)}`;
    let found: RuntimeClass;
    try {
      found = await cluster.clients.main.request<RuntimeClass>({ method: 'GET', path }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isNotFound(error)) throw error;
      throw new Error(`failed to lookup RuntimeClass ${runtimeClassName}: ${errorText(error)}`, { cause: error });
    }
    handlers.set(uid, found.handler);
    return found.handler;
  };
  const forget = async (uid: PodUid): Promise<void> => void handlers.delete(uid);
  return {
    pod: {
      sandbox: async (pod, signal) => (pod.spec.runtimeClassName ? { handler: await lookUp(pod, signal) } : {}),
      container: async (pod, _container, _making, signal) =>
        pod.spec.runtimeClassName ? { handler: handlers.get(pod.metadata.uid) ?? (await lookUp(pod, signal)) } : {},
      tearDown: forget,
      release: forget,
    },
  };
}
