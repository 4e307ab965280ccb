import type { Pod } from './pod.ts';

type Requirements = Pod['spec']['resources'];

/** Whether a pod as a whole may ask for this resource (component-helpers/resource IsSupportedPodLevelResource). */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

const asksFor = (amounts: Readonly<Record<string, string>> | undefined): boolean => Object.keys(amounts ?? {}).some(isPodLevelResource);

export function hasPodLevelRequests(resources: Requirements): boolean {
  return asksFor(resources?.requests);
}

function hasPodLevelLimits(resources: Requirements): boolean {
  return asksFor(resources?.limits);
}

/** Whether the pod as a whole asks for or limits anything that counts. */
export function hasPodLevelResources({ spec: { resources } }: Pick<Pod, 'spec'>): boolean {
  return hasPodLevelRequests(resources) || hasPodLevelLimits(resources);
}
