import { CONFIG_MIRROR_ANNOTATION, CONFIG_SOURCE_ANNOTATION } from './config-annotations.ts';
import type { Pod } from './pod.ts';

const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/** Static, mirror and system-critical pods: the node does without others before these (pkg/kubelet/types IsCriticalPod). */
export function isCriticalPod({
  metadata,
  spec,
}: Pick<Pod, 'spec'> & { readonly metadata: Pick<Pod['metadata'], 'annotations'> }): boolean {
  const { [CONFIG_SOURCE_ANNOTATION]: source, [CONFIG_MIRROR_ANNOTATION]: mirror } = metadata.annotations ?? {};
  return (source !== undefined && source !== 'api') || mirror !== undefined || (spec.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}
