import { CONFIG_SOURCE_ANNOTATION } from './config-annotations.ts';
import { allContainers } from './pod-predicates.ts';
import type { Pod, SourceName } from './pod.ts';

/** What pods may have of the node, and from which sources they must come for that: --host-network-sources and its like. */
export interface HostPrivileges {
  readonly allowPrivileged: boolean;
  /** "*" is every source. */
  readonly hostNetworkSources: readonly string[];
  readonly hostPidSources: readonly string[];
  readonly hostIpcSources: readonly string[];
}

export const podSources: readonly (SourceName | '*')[] = ['file', 'http', 'api', '*'];

/** Which of the node's privileges the pod asks for and may not have; undefined: none (canRunPod of older kubelets). Names the field. */
export function forbiddenPrivilege({ metadata, spec }: Pod, allowed: HostPrivileges): string | undefined {
  const source = metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] ?? 'api';
  const who = `pod with UID ${JSON.stringify(metadata.uid)} specified`;
  const privileged = allContainers(spec).find(({ securityContext }) => securityContext?.privileged === true);
  if (privileged && !allowed.allowPrivileged) {
    return `${who} privileged container, but is disallowed (container ${privileged.name}: securityContext.privileged)`;
  }
  const namespaces = [
    ['hostNetwork', 'host networking', allowed.hostNetworkSources],
    ['hostPID', 'host PID', allowed.hostPidSources],
    ['hostIPC', 'host ipc', allowed.hostIpcSources],
  ] as const;
  for (const [field, words, sources] of namespaces) {
    if (spec[field] !== true || sources.includes('*') || sources.includes(source)) continue;
    return `${who} ${words}, but is disallowed (spec.${field}: pods of source ${source})`;
  }
  return undefined;
}
