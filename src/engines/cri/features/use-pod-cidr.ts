import { RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';

/**
 * Tells the runtime from which addresses pods get theirs: one or two ranges, "10.1.0.0/24,fd00::/64" (updatePodCIDR in pkg/kubelet). containerd
 * writes a CNI configuration by it where it has a template for that; others have no use for it. Rejects as the call does.
 */
export const usePodCidr = async (client: Pick<CriClient, 'call'>, podCidr: string, signal: AbortSignal): Promise<void> => {
  await client.call(RuntimeService.method.updateRuntimeConfig, { runtimeConfig: { networkConfig: { podCidr } } }, signal);
};
