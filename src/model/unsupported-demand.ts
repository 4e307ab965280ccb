import type { Pod } from './pod.ts';

/** What a pod must not run without, and this node cannot give. The message names the field. */
export interface UnsupportedDemand {
  readonly reason: 'UserNamespacesNotSupported' | 'ResourceClaimsNotSupported';
  readonly message: string;
}

/** What not every engine can do for a pod. */
export interface EngineSupport {
  readonly supplementalGroupsPolicy: boolean;
  readonly userNamespaces: boolean;
}

export const noEngineSupport: EngineSupport = { supplementalGroupsPolicy: false, userNamespaces: false };

/** Whether what the engine supports matters for the pod. */
export const dependsOnEngine = ({ spec }: Pick<Pod, 'spec'>): boolean => asksForStrictGroups(spec) || spec.hostUsers === false;

const asksForStrictGroups = ({ securityContext }: Pod['spec']): boolean => securityContext?.supplementalGroupsPolicy === 'Strict';

/** Undefined when there is none. Reasons and messages are newer kubelets' (pkg/kubelet/lifecycle), where they have one. */
export function unsupportedDemand({ spec }: Pick<Pod, 'spec'>, engine: EngineSupport): UnsupportedDemand | undefined {
  if (spec.hostUsers === false && !engine.userNamespaces) {
    return { reason: 'UserNamespacesNotSupported', message: 'user namespaces are not supported in this node (spec.hostUsers)' };
  }
  return undefined;
}
