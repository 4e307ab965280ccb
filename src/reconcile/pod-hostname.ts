import type { Pod } from '../model/pod.ts';

/** Linux' limit for a host name (pkg/kubelet/util truncatePodHostnameIfNeeded). */
const HOSTNAME_MAX = 63;

/** The host name inside the pod: spec.hostname or the pod's name cut to 63 characters; undefined where the node's own applies. */
export function podHostname({ metadata, spec }: Pod): string | undefined {
  if (spec.hostNetwork) return undefined;
  return spec.hostname || metadata.name.slice(0, HOSTNAME_MAX).replace(/[-.]+$/, '');
}
