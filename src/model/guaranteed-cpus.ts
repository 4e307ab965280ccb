import { hasPodLevelResources } from './pod-level-resources.ts';
import { isSidecar } from './pod-predicates.ts';
import type { Container, Pod } from './pod.ts';
import { podQosClass } from './qos.ts';
import { Quantity } from './quantity.ts';

/**
 * How many CPUs a container is to have for itself; 0: it runs on the shared ones. Only whole CPUs of Guaranteed pods count, and none of pods
 * that ask for resources as a whole (staticPolicy.guaranteedCPUs; feature gate PodLevelResourceManagers is off). Throws QuantityParseError.
 */
export function guaranteedCpus(pod: Pod, { resources }: Container): number {
  if (podQosClass(pod) !== 'Guaranteed' || hasPodLevelResources(pod)) return 0;
  const asked = Quantity.fromJson(resources?.requests?.['cpu']);
  return asked.value() * 1000n === asked.milliValue() ? Number(asked.value()) : 0;
}

/** How many its containers have for themselves at most at one time (staticPolicy.podGuaranteedCPUs). */
export function podGuaranteedCpus(pod: Pod): number {
  let most = 0;
  let ofSidecars = 0;
  for (const container of pod.spec.initContainers ?? []) {
    const asked = guaranteedCpus(pod, container);
    if (isSidecar(container)) ofSidecars += asked;
    else most = Math.max(most, ofSidecars + asked);
  }
  const ofApps = pod.spec.containers.reduce((sum, container) => sum + guaranteedCpus(pod, container), 0);
  return Math.max(most, ofSidecars + ofApps);
}
