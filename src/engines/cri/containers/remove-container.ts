import { isGrpcError } from '../../../base/grpc/grpc-error.ts';
import type { TerminationMessages } from '../../common/containers/termination-messages.ts';
import { readContainerLabels } from '../../common/identity/container-labels.ts';
import { type ContainerStatus, RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import type { LogDirectories } from '../logs/log-directories.ts';
import { logOwner } from '../logs/log-owner.ts';
import { type CriMessageOwner, messageOwner } from './message-owner.ts';

export interface ContainerRemoving {
  readonly client: Pick<CriClient, 'call'>;
  readonly messages: TerminationMessages<CriMessageOwner>;
  readonly directories: LogDirectories;
}

/** With its log and its termination message. Succeeds when it is gone. */
export async function removeContainer(
  { client, messages, directories }: ContainerRemoving,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const status = await statusOf(client, id, signal);
  if (status === undefined) return;
  await deleteContainer(client, id, signal);
  const owner = logOwner(status);
  if (owner) await directories.remove(owner, id);
  await messages.remove(messageOwner(status), readContainerLabels(status));
}

/** Killed where it still runs. Succeeds when it is gone. */
export async function deleteContainer(client: Pick<CriClient, 'call'>, containerId: string, signal: AbortSignal): Promise<void> {
  try {
    await client.call(RuntimeService.method.removeContainer, { containerId }, signal);
  } catch (error) {
    if (!isGrpcError(error, 'NotFound')) throw error;
  }
}

/** Undefined when it is gone. */
async function statusOf(client: Pick<CriClient, 'call'>, containerId: string, signal: AbortSignal): Promise<ContainerStatus | undefined> {
  try {
    return (await client.call(RuntimeService.method.containerStatus, { containerId }, signal)).status;
  } catch (error) {
    if (isGrpcError(error, 'NotFound')) return undefined;
    throw error;
  }
}
