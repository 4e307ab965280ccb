import { goArch } from '../base/go-arch.ts';
import type { Node, Taint } from '../model/node.ts';
import { hugePagesPrefix } from './machine-info.ts';

export interface RegistrationOptions {
  readonly nodeName: string;
  readonly hostname: string;
  /** Node's name for the processor: "x64". */
  readonly arch: string;
  /** --node-labels, which may overrule the labels that every node has. */
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly registerWithTaints: readonly Taint[];
  readonly registerSchedulable: boolean;
  /** Empty: none. */
  readonly providerId: string;
  readonly externalCloudProvider: boolean;
  /** Attachable volumes are attached by the controller manager. */
  readonly enableControllerAttachDetach: boolean;
}

const attachDetachAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach';
const unschedulable: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const uninitialized: Taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };

/** The Node to register, but for its status (pkg/kubelet/kubelet_node_status.go initialNode). */
export function initialNode(options: RegistrationOptions): Node {
  const arch = goArch(options.arch);
  const taints = [...options.registerWithTaints];
  // Tainted from the start, so that no scheduler is faster than the controller that makes this taint of `unschedulable`.
  const isTainted = taints.some(({ key, effect }) => key === unschedulable.key && effect === unschedulable.effect);
  if (!options.registerSchedulable && !isTainted) taints.push(unschedulable);
  if (options.externalCloudProvider) taints.push(uninitialized);
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: options.nodeName,
      labels: {
        'kubernetes.io/hostname': options.hostname,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': arch,
        'beta.kubernetes.io/os': 'linux',
        'beta.kubernetes.io/arch': arch,
        ...options.nodeLabels,
      },
      ...(options.enableControllerAttachDetach && { annotations: { [attachDetachAnnotation]: 'true' } }),
    },
    spec: {
      ...(!options.registerSchedulable && { unschedulable: true }),
      ...(taints.length > 0 && { taints: taints.map(({ value, ...taint }) => (value ? { ...taint, value } : taint)) }),
      ...(options.providerId !== '' && { providerID: options.providerId }),
    },
  };
}

/** Labels that are set again on a node that exists (updateDefaultLabels); others belong to those who changed them since. */
const defaultLabels = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'node.kubernetes.io/windows-build',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
];

/**
 * A node of this name that exists, with what registering it again corrects: default labels, the attach-detach annotation, sizes of huge
 * pages (tryRegisterWithAPIServer).
 */
export function adoptedNode(existing: Node, initial: Node): Node {
  const { labels: oldLabels, annotations: oldAnnotations, ...metadata } = existing.metadata ?? {};
  const labels = { ...oldLabels };
  for (const label of defaultLabels) {
    const value = initial.metadata?.labels?.[label];
    if (value === undefined) continue;
    if (value === '') delete labels[label];
    else labels[label] = value;
  }
  const { [attachDetachAnnotation]: _, ...others } = oldAnnotations ?? {};
  const attachDetach = initial.metadata?.annotations?.[attachDetachAnnotation];
  const annotations = { ...others, ...(attachDetach !== undefined && { [attachDetachAnnotation]: attachDetach }) };
  return {
    ...existing,
    metadata: {
      ...metadata,
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    ...(existing.status && { status: withoutLostHugePages(existing.status, initial.status?.capacity ?? {}) }),
  };
}

/** Sizes that the machine has no longer; those that it has are set with the status. */
function withoutLostHugePages(status: NonNullable<Node['status']>, supported: object): NonNullable<Node['status']> {
  const kept = (list: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(list).filter(([name]) => !name.startsWith(hugePagesPrefix) || name in supported));
  return {
    ...status,
    ...(status.capacity && { capacity: kept(status.capacity) }),
    ...(status.allocatable && { allocatable: kept(status.allocatable) }),
  };
}
