import { isAlreadyExists, isConflict, isNotFound } from '../model/api-error.ts';
import { isMirrorPodOf } from '../model/mirror-pod.ts';
import type { Pod } from '../model/pod.ts';
import type { KubeApi } from '../ports/kube-api.ts';
import type { MirrorPodAction } from './mirror-pod-actions.ts';

/** The static pod's name is taken in the API by something that is not its mirror. */
export class MirrorNameTakenError extends Error {
  override readonly name = 'MirrorNameTakenError';
}

type Api = Pick<KubeApi, 'request'>;

/**
 * Carries the actions out in order. A mirror that is gone already or is another one by now ends the series: what to do next is seen when
 * the API server's word about it has come. Resolves with the mirror that was created, or found to stand there already.
 */
export async function changeMirrorPod(api: Api, actions: readonly MirrorPodAction[], signal: AbortSignal): Promise<unknown> {
  let created: unknown;
  for (const action of actions) {
    if (action.do === 'create') created = await create(api, action.body, signal);
    else if (!(await wasDeleted(api, action.mirror, signal))) return created;
  }
  return created;
}

const podsOf = (namespace: string): string => `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
const pathOf = ({ metadata: { namespace, name } }: Pod): string => `${podsOf(namespace)}/${encodeURIComponent(name)}`;

async function wasDeleted(api: Api, mirror: Pod, signal: AbortSignal): Promise<boolean> {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: mirror.metadata.uid } };
  try {
    await api.request({ method: 'DELETE', path: pathOf(mirror), body }, signal);
    return true;
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false;
    throw error;
  }
}

async function create(api: Api, body: Pod, signal: AbortSignal): Promise<unknown> {
  try {
    return await api.request({ method: 'POST', path: podsOf(body.metadata.namespace), body }, signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const standing = await api.request<Pod>({ method: 'GET', path: pathOf(body) }, signal);
    if (standing.metadata.deletionTimestamp === undefined && isMirrorPodOf(standing, body)) return standing;
    throw new MirrorNameTakenError('a pod of this name that is no mirror of it, or an old one, stands in the way', { cause: error });
  }
}
