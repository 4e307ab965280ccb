import type { Container, Pod } from '../../../model/pod.ts';
import type { ContainerChange, ContainerId } from '../../../ports/container-runtime.ts';
import { refuseLimitBelowUsage } from '../../common/containers/refuse-limit-below-usage.ts';
import { RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import { type CriNode, criUpdate } from './linux-resources.ts';

/** Changes the limits of a container that runs, or the CPUs that it runs on. */
export async function updateContainer(
  { client, node }: { readonly client: Pick<CriClient, 'call'>; readonly node: CriNode },
  id: ContainerId,
  pod: Pod,
  container: Container,
  change: ContainerChange,
  signal: AbortSignal,
): Promise<void> {
  const linux = criUpdate(pod, container, node, change);
  const limit = linux.memoryLimitInBytes ?? 0n;
  if (limit > 0n) await refuseBelowUsage(client, id, container.name, limit, signal);
  await client.call(RuntimeService.method.updateContainerResources, { containerId: id, linux }, signal);
}

async function refuseBelowUsage(
  client: Pick<CriClient, 'call'>,
  containerId: ContainerId,
  name: string,
  limit: bigint,
  signal: AbortSignal,
): Promise<void> {
  const { stats } = await client.call(RuntimeService.method.containerStats, { containerId }, signal);
  const { usageBytes, workingSetBytes } = stats?.memory ?? {};
  refuseLimitBelowUsage(name, limit, usageBytes?.value ?? workingSetBytes?.value ?? 0n);
}
