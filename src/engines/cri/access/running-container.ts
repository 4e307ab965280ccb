import { isJsonObject } from '../../../base/json-object.ts';
import { isGrpcError } from '../../../base/grpc/grpc-error.ts';
import { type ContainerStatus, ContainerState, NamespaceMode, PodSandboxState, RuntimeService } from '../api/runtime_pb.js';
import type { DialledSandbox } from '../../common/access/dial-sandbox.ts';
import type { CriClient } from '../client/cri-client.ts';

type Client = Pick<CriClient, 'call'>;

const noSuch = (id: string): Error => new Error(`Error: No such container: ${id}`);
const notRunning = (id: string): Error => new Error(`container not running (${id})`);

/** Rejects, in the words that people know from dockershim, when there is none. */
export async function existingContainer(client: Client, id: string, signal: AbortSignal): Promise<ContainerStatus> {
  try {
    const { status } = await client.call(RuntimeService.method.containerStatus, { containerId: id }, signal);
    if (status !== undefined) return status;
  } catch (error) {
    if (!isGrpcError(error, 'NotFound')) throw error;
  }
  throw noSuch(id);
}

/** The same when it does not run. */
export async function runningContainer(client: Client, id: string, signal: AbortSignal): Promise<ContainerStatus> {
  const status = await existingContainer(client, id, signal);
  if (status.state !== ContainerState.CONTAINER_RUNNING) throw notRunning(status.id);
  return status;
}

/** Where the network of a sandbox is. Rejects when there is no such sandbox, it does not run, or the runtime does not say. */
export async function runningSandbox(client: Client, id: string, signal: AbortSignal): Promise<DialledSandbox> {
  const answer = await client
    .call(RuntimeService.method.podSandboxStatus, { podSandboxId: id, verbose: true }, signal)
    .catch((error: unknown) => Promise.reject(isGrpcError(error, 'NotFound') ? noSuch(id) : error));
  const { status, info } = answer;
  if (status === undefined) throw noSuch(id);
  if (status.state !== PodSandboxState.SANDBOX_READY) throw notRunning(status.id);
  if (status.linux?.namespaces?.options?.network === NamespaceMode.NODE) return { id: status.id, network: 'node' };
  const pid = pidIn(info);
  if (pid === undefined)
    throw new Error(`cannot reach into sandbox ${status.id}: the runtime does not say which process holds its network`);
  return { id: status.id, network: { pid } };
}

/** The process of a container or sandbox, as containerd and CRI-O add it to a verbose status. */
export function pidIn(info: Readonly<Record<string, string>>): number | undefined {
  try {
    const parsed: unknown = JSON.parse(info['info'] ?? '');
    const pid = isJsonObject(parsed) ? parsed['pid'] : undefined;
    return typeof pid === 'number' && Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
