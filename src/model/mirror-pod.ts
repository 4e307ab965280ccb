import { CONFIG_HASH_ANNOTATION, CONFIG_MIRROR_ANNOTATION, CONFIG_SOURCE_ANNOTATION } from './config-annotations.ts';
import { type Pod, podFullName } from './pod.ts';

type WithMeta = Pick<Pod, 'metadata'>;
type WithAnnotations = { readonly metadata: Pick<Pod['metadata'], 'annotations'> };

/** An API object that stands for a static pod: to be shown, never to be run (pkg/kubelet/types IsMirrorPod). */
export function isMirrorPod({ metadata }: WithAnnotations): boolean {
  return metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined;
}

/** A pod of a file or URL, once the mux has written where it comes from (pkg/kubelet/pod IsStaticPod). */
export function isStaticPod({ metadata }: WithAnnotations): boolean {
  const source = metadata.annotations?.[CONFIG_SOURCE_ANNOTATION];
  return source !== undefined && source !== 'api';
}

/** What a mirror pod of this static pod carries, to differ from one of an older manifest; empty for a pod that carries no hash. */
export function staticPodHash({ metadata }: WithMeta): string {
  return metadata.annotations?.[CONFIG_HASH_ANNOTATION] ?? '';
}

/** Whether what the API shows under the pod's name is the pod itself, or the mirror pod of this very static pod. */
export function isShownBy(pod: WithMeta, object: WithMeta): boolean {
  return isMirrorPod(object) ? isMirrorPodOf(object, pod) : object.metadata.uid === pod.metadata.uid;
}

/** Whether the mirror pod stands for this very static pod: same name, same manifest (pkg/kubelet/pod IsMirrorPodOf). */
export function isMirrorPodOf(mirror: WithMeta, pod: WithMeta): boolean {
  return podFullName(mirror) === podFullName(pod) && mirror.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] === staticPodHash(pod);
}
