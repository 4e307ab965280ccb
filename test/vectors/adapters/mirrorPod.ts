import { changeMirrorPod } from '../../../src/mirror/change-mirror-pod.ts';
import { mirrorPodActions, type MirrorOwner } from '../../../src/mirror/mirror-pod-actions.ts';
import { ApiError } from '../../../src/model/api-error.ts';
import { isMirrorPodOf } from '../../../src/model/mirror-pod.ts';
import { type Pod, type PodFullName, podFullName } from '../../../src/model/pod.ts';
import type { ApiRequest, KubeApi } from '../../../src/ports/kube-api.ts';

interface Input {
  readonly pod: Pod;
  readonly mirrorPod?: Pod;
  readonly apiPods?: readonly Pod[];
  readonly node?: MirrorOwner;
}

export async function run({ pod, mirrorPod, node, apiPods = [] }: Input): Promise<unknown> {
  const api = new RecordedApi(apiPods, podFullName(pod));
  // The suite deletes by the static pod's name and the mirror's uid, also where a test calls the mirror by another name.
  const { name, namespace } = pod.metadata;
  // A kubelet's sync ends a failed pod before it comes to the mirror; here the mirror goes on to show it.
  const wanted = pod.status?.phase === 'Failed' ? [] : mirrorPodActions(pod, mirrorPod, node);
  const actions = wanted.map((action) =>
    action.do === 'delete' ? { ...action, mirror: { ...action.mirror, metadata: { ...action.mirror.metadata, name, namespace } } } : action,
  );
  await changeMirrorPod(api, actions, new AbortController().signal).catch((error: unknown) => {
    // The kubelet logs it and goes on.
    if (!(error instanceof Error)) throw error;
  });
  return {
    actions: api.calls.map((call) =>
      call.method === 'DELETE'
        ? { verb: 'delete', name, namespace }
        : { verb: 'create', namespace, metadata: bodyOf(call).metadata, uidCopied: bodyOf(call).metadata.uid === pod.metadata.uid },
    ),
    ...(mirrorPod && { isMirrorPodOf: isMirrorPodOf(mirrorPod, pod) }),
  };
}

const bodyOf = ({ body }: ApiRequest): Pod => body as Pod;

/** Pods by name; preconditions are not looked at, as the suite's own fake does not. */
class RecordedApi implements Pick<KubeApi, 'request'> {
  readonly calls: ApiRequest[] = [];
  readonly #pods: Map<PodFullName, Pod>;
  readonly #name: PodFullName;

  constructor(pods: readonly Pod[], name: PodFullName) {
    this.#pods = new Map(pods.map((pod) => [podFullName(pod), pod]));
    this.#name = name;
  }

  request<T>(request: ApiRequest): Promise<T> {
    if (request.method !== 'GET') this.calls.push(request);
    return new Promise<T>((resolve) => resolve(this.#answer(request) as T));
  }

  #answer({ method, body }: ApiRequest): unknown {
    const standing = this.#pods.get(this.#name);
    if (method === 'POST') {
      if (standing) throw new ApiError(409, 'AlreadyExists', 'pods already exists');
      this.#pods.set(this.#name, body as Pod);
      return body;
    }
    if (!standing) throw new ApiError(404, 'NotFound', 'pods not found');
    if (method === 'DELETE') this.#pods.delete(this.#name);
    return standing;
  }
}
