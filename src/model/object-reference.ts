import type { V1ObjectReference } from '@kubernetes/client-node';
import type { Pod } from './pod.ts';
import type { Wire } from './wire.ts';

export type ObjectReference = Wire<V1ObjectReference>;

/** pkg/kubelet/container ImplicitContainerPrefix. Events about such containers are not recorded. */
export const IMPLICIT_CONTAINER_PREFIX = 'implicitly required container ';

/**
 * How an event names a pod, or one of its containers by `fieldPath` (pkg/kubelet/container GenerateContainerRef). A static pod is
 * named by its own uid, not its mirror's: that is the uid under which `kubectl describe` looks for a mirror pod's events.
 */
export function podReference(pod: Pod, container?: string): ObjectReference {
  const { name, namespace, uid, resourceVersion } = pod.metadata;
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    name,
    namespace,
    uid,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(container === undefined ? {} : { fieldPath: containerFieldPath(pod, container) }),
  };
}

/** How the kubelet names its node in events: by name alone, which stands in for the uid (pkg/kubelet NewMainKubelet). */
export function nodeReference(nodeName: string): ObjectReference {
  return { kind: 'Node', name: nodeName, uid: nodeName };
}

/** "spec.containers{app}". A container that the pod does not declare was started implicitly. */
function containerFieldPath({ spec }: Pod, name: string): string {
  const declares = (containers: readonly { readonly name: string }[] | undefined): boolean =>
    containers?.some((container) => container.name === name) ?? false;
  if (declares(spec.containers)) return `spec.containers{${name}}`;
  if (declares(spec.initContainers)) return `spec.initContainers{${name}}`;
  if (declares(spec.ephemeralContainers)) return `spec.ephemeralContainers{${name}}`;
  return `${IMPLICIT_CONTAINER_PREFIX}${name}`;
}
