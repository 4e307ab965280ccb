import { isCriticalPod } from './critical-pod.ts';
import { isStaticPod } from './mirror-pod.ts';
import { matchesNode } from './node-affinity.ts';
import { insufficientResources, type InsufficientResource } from './node-fit.ts';
import type { NodeUse } from './node-use.ts';
import type { Node } from './node.ts';
import type { PodRefusal } from './pod-admission.ts';
import type { Pod } from './pod.ts';
import { untoleratedTaint } from './tolerations.ts';

const OS_LABEL = 'kubernetes.io/os';

export interface PodFit {
  readonly pod: Pod;
  /** Admitted before, and not over yet. */
  readonly otherPods: NodeUse;
  /** Undefined: it cannot be had. Without `allocatable` its resources are not judged. */
  readonly node: Node | undefined;
}

/**
 * What the scheduler should have seen to, in the kubelet's order: what room would not help with, then resources, node selector and affinity,
 * node name, host ports, taints. Undefined, or the first reason against the pod; of a critical pod one that room would not help with, where
 * there is one (predicateAdmitHandler.Admit in pkg/kubelet/lifecycle).
 */
export function fitPod({ pod, otherPods, node }: PodFit): PodRefusal | undefined {
  if (node === undefined) return { reason: 'InvalidNodeInfo', message: 'Kubelet cannot get node info.' };
  const foreign = foreignDemand(pod, node);
  if (foreign) return foreign;
  const { allocatable } = node.status ?? {};
  const lacking = allocatable === undefined ? [] : insufficientResources(pod, otherPods, allocatable);
  const misplaced = misplacement(pod, otherPods, withOs(node));
  const [first] = lacking;
  if (first === undefined || (misplaced && isCriticalPod(pod))) return misplaced;
  return { ...refusalFor(first), ...(misplaced === undefined && { lacking }) };
}

function foreignDemand({ metadata, spec }: Pod, { status }: Node): PodRefusal | undefined {
  const os = metadata.labels?.[OS_LABEL];
  if (os !== undefined && os !== 'linux') {
    return {
      reason: 'PodOSSelectorNodeLabelDoesNotMatch',
      message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    };
  }
  if (spec.os !== undefined && spec.os.name !== 'linux')
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
  if (spec.securityContext?.supplementalGroupsPolicy === 'Strict' && !status?.features?.supplementalGroupsPolicy) {
    return {
      reason: 'SupplementalGroupsPolicyNotSupported',
      message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
    };
  }
  return undefined;
}

/** A node that has labels has that of its system, whatever the API server says (rejectPodAdmissionBasedOnOSSelector). */
function withOs(node: Node): Node {
  const { labels = {} } = node.metadata ?? {};
  if (Object.keys(labels).length === 0) return node;
  return { ...node, metadata: { ...node.metadata, labels: { ...labels, [OS_LABEL]: 'linux' } } };
}

function misplacement(pod: Pod, otherPods: NodeUse, node: Node): PodRefusal | undefined {
  const { spec } = pod;
  if (!matchesNode(spec, node)) return failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  if (spec.nodeName && spec.nodeName !== node.metadata?.name) return failed('NodeName', "node(s) didn't match the requested node name");
  if (otherPods.collidesWith(pod)) return failed('NodePorts', "node(s) didn't have free ports for the requested pod ports");
  if (isStaticPod(pod)) return undefined;
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  if (untoleratedTaint(taints, spec.tolerations ?? [])) return failed('TaintToleration', "node(s) had taints that the pod didn't tolerate");
  return undefined;
}

const failed = (predicate: 'NodeAffinity' | 'NodeName' | 'NodePorts' | 'TaintToleration', why: string): PodRefusal => ({
  reason: predicate,
  message: `Predicate ${predicate} failed: ${why}`,
});

function refusalFor({ resource, requested, used, capacity }: InsufficientResource): PodRefusal {
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${resource}`, message: `Node didn't have enough resource: ${resource}, ${amounts}` };
}
