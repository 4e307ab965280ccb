import { isCriticalPod } from './critical-pod.ts';
import type { Container, Pod } from './pod.ts';
import { podQosClass } from './qos.ts';
import { Quantity } from './quantity.ts';

/** What of the node decides who may use swap. Amounts are bytes. */
export interface SwapRules {
  readonly cgroup: 1 | 2;
  readonly memoryCapacity: number;
  readonly swapCapacity: number;
  /** Whether the kernel can limit swap. */
  readonly swapController: boolean;
  /** memorySwap.swapBehavior; anything but LimitedSwap is none. */
  readonly swapBehavior: string;
}

/** Whether the container is given a share of the node's swap, however much that is (GetContainerSwapBehavior in pkg/kubelet/kuberuntime). Throws QuantityParseError. */
export function mayUseSwap(pod: Pod, container: Container, { cgroup, swapController, swapBehavior }: SwapRules): boolean {
  if (swapBehavior !== 'LimitedSwap' || !swapController || cgroup !== 2 || isCriticalPod(pod)) return false;
  if ((pod.status?.qosClass || podQosClass(pod)) !== 'Burstable') return false;
  const { requests, limits } = container.resources ?? {};
  return Quantity.fromJson(requests?.['memory']).cmp(Quantity.fromJson(limits?.['memory'])) !== 0;
}

/** So much of the node's swap as of its memory the container asks for (calcSwapForBurstablePods); 0: none. Throws QuantityParseError. */
export function swapBytes(pod: Pod, container: Container, node: SwapRules): number {
  const { memoryCapacity, swapCapacity } = node;
  const asked = Number(Quantity.fromJson(container.resources?.requests?.['memory']).value());
  if (!mayUseSwap(pod, container, node) || memoryCapacity <= 0 || asked > memoryCapacity) return 0;
  return Math.trunc((asked / memoryCapacity) * swapCapacity);
}
