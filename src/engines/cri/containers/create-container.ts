import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import type { Pod } from '../../../model/pod.ts';
import type { SandboxId } from '../../../ports/container-runtime.ts';
import { HASH_ANNOTATION } from '../../common/identity/container-labels.ts';
import { CONTAINER_NAME_LABEL, POD_UID_LABEL } from '../../common/identity/pod-labels.ts';
import { type Container, ContainerState, RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import { createdOnce } from '../client/created-once.ts';
import type { LogDirectories } from '../logs/log-directories.ts';
import { logOwner } from '../logs/log-owner.ts';
import { verboseInfo } from '../observe/verbose-info.ts';
import type { SandboxConfig } from '../sandbox/sandbox-config.ts';
import type { ContainerConfig } from './container-config.ts';
import { deleteContainer } from './remove-container.ts';
import { stopContainer } from './stop-container.ts';

export interface ContainerCreating {
  readonly client: Pick<CriClient, 'call' | 'requestTimeoutMs'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Pick<Logger, 'info'>;
  readonly directories: LogDirectories;
}

export interface CreateRequest {
  readonly podSandboxId: SandboxId;
  readonly config: ContainerConfig;
  readonly sandboxConfig: SandboxConfig;
}

/**
 * Resolves with the id of the container, and whether it was there already and runs or has run. One that was created and never started is replaced:
 * what it was made of, an environment from a ConfigMap, may have changed since.
 */
export async function createContainer(
  { client, clock, log, directories }: ContainerCreating,
  { metadata }: Pod,
  request: CreateRequest,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly adopted: boolean }> {
  const { name = '', attempt } = request.config.metadata ?? {};
  const { createContainer: create, listContainers } = RuntimeService.method;
  let adopted = false;
  const id = await createdOnce<Container>(
    {
      create: async () => (await client.call(create, { ...request }, signal)).containerId,
      holder: async () => {
        const filter = { labelSelector: { [POD_UID_LABEL]: metadata.uid, [CONTAINER_NAME_LABEL]: name } };
        const { containers } = await client.call(listContainers, { filter }, signal);
        return containers.find((each) => each.metadata?.attempt === attempt);
      },
      fits: async (holder) => (adopted = await isSame(client, holder, request, signal)),
      // Its log goes with it, and its message stays: that of the new one is the same file.
      remove: async (holder) => {
        await stopContainer(client, holder.id, 0, signal);
        await deleteContainer(client, holder.id, signal);
        const owner = logOwner(holder);
        if (owner) await directories.remove(owner, holder.id);
      },
    },
    { clock, log, what: 'container' },
    signal,
  );
  return { id, adopted };
}

/** Of the same image and command, in the same sandbox; name and attempt are the same already. */
async function isSame(
  client: Pick<CriClient, 'call'>,
  { id: containerId, podSandboxId, state, annotations }: Container,
  request: CreateRequest,
  signal: AbortSignal,
): Promise<boolean> {
  if (state !== ContainerState.CONTAINER_RUNNING && state !== ContainerState.CONTAINER_EXITED) return false;
  if (podSandboxId !== request.podSandboxId) return false;
  if (annotations[HASH_ANNOTATION] !== request.config.annotations?.[HASH_ANNOTATION]) return false;
  const { info } = await client.call(RuntimeService.method.containerStatus, { containerId, verbose: true }, signal);
  const { args: found } = verboseInfo(info);
  const { command = [], args = [] } = request.config;
  if (found === undefined) return command.length === 0 && args.length === 0;
  // Without a command it is the image's that stands before the arguments.
  return isDeepStrictEqual(command.length > 0 ? found : found.slice(found.length - args.length), [...command, ...args]);
}
