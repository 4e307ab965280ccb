import type { ContainerInspectInfo } from 'dockerode';
import type { EngineClient } from './engine-client.ts';
import { inspectContainer } from './inspect-container.ts';

/** Rejects, in the words that people know from dockershim (checkContainerStatus), when there is none or it does not run. */
export async function runningContainer(client: EngineClient, id: string, signal: AbortSignal): Promise<ContainerInspectInfo> {
  const info = await existingContainer(client, id, signal);
  if (!info.State.Running) throw new Error(`container not running (${info.Id})`);
  return info;
}

export async function existingContainer(client: EngineClient, id: string, signal: AbortSignal): Promise<ContainerInspectInfo> {
  const info = await inspectContainer(client, id, signal);
  if (!info) throw new Error(`Error: No such container: ${id}`);
  return info;
}
