import type { Container, Pod } from '../../../model/pod.ts';
import type { ContainerChange, ContainerId } from '../../../ports/container-runtime.ts';
import { refuseLimitBelowUsage } from '../../common/containers/refuse-limit-below-usage.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { dockerResources, type DockerUpdate, dockerUpdate, type NodeResources } from './container-resources.ts';

/** Changes the limits of a container that runs, or the CPUs that it runs on. */
export async function updateContainer(
  { client, node }: { readonly client: EngineClient; readonly node: NodeResources },
  id: ContainerId,
  pod: Pod,
  container: Container,
  change: ContainerChange,
  signal: AbortSignal,
): Promise<void> {
  const update = typeof change === 'object' ? { CpusetCpus: change.cpuset } : dockerUpdate(dockerResources(pod, container, node), change);
  await send(client, id, container, update, signal);
}

async function send(client: EngineClient, id: ContainerId, container: Container, update: DockerUpdate, signal: AbortSignal): Promise<void> {
  if (update.Memory !== undefined && update.Memory > 0) await refuseBelowUsage(client, id, container.name, update.Memory, signal);
  await client.call(`POST /containers/${id}/update`, client.requestTimeoutMs, signal, (docker) =>
    docker.getContainer(id).update(update satisfies DockerUpdate),
  );
}

async function refuseBelowUsage(client: EngineClient, id: ContainerId, name: string, limit: number, signal: AbortSignal): Promise<void> {
  const stats = await client.call(`GET /containers/${id}/stats?stream=false&one-shot=true`, client.requestTimeoutMs, signal, (docker) =>
    docker.getContainer(id).stats({ stream: false, 'one-shot': true }),
  );
  refuseLimitBelowUsage(name, limit, usageOf(stats));
}

/** 0 of a container that does not run, or where the kernel does not count. */
function usageOf({ memory_stats: memory }: { readonly memory_stats?: { readonly usage?: number } | null }): number {
  return memory?.usage ?? 0;
}
