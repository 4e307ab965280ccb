import type { ContainerCreateOptions, ContainerInspectInfo } from 'dockerode';
import type { Logger } from '../base/logger.ts';
import type { CreateBody, CreateRequest } from './create-body.ts';
import { randomizedName } from './docker-names.ts';
import type { EngineClient } from './engine-client.ts';
import { isConflict, isNotModified } from './engine-errors.ts';
import { inspectContainer } from './inspect-container.ts';
import { deleteContainer } from './remove-container.ts';

export interface Creating {
  readonly client: EngineClient;
  readonly log: Logger;
  readonly random: () => number;
}

export interface Created {
  readonly id: string;
  /** Set when a container of that name was there already and fits. */
  readonly adopted?: ContainerInspectInfo;
}

/**
 * Creates a container. When its name is taken, by a create whose answer was lost or by a crashed agent's leftover, the holder is adopted
 * if it `fits`, else replaced. A name that the engine holds for nothing is evaded (pkg/kubelet/dockershim recoverFromCreationConflictIfNeeded).
 */
export async function createContainer(
  { client, log, random }: Creating,
  { name, body }: CreateRequest,
  fits: (holder: ContainerInspectInfo) => boolean,
  signal: AbortSignal,
): Promise<Created> {
  const post = async (as: string): Promise<Created | undefined> => {
    try {
      return { id: await postCreate(client, as, body, signal) };
    } catch (error) {
      if (isConflict(error)) return undefined;
      throw error;
    }
  };
  const created = await post(name);
  if (created) return created;
  const holder = await inspectContainer(client, name, signal);
  if (holder && fits(holder)) {
    log.info('adopted a container that had the name of a new one', { name, id: holder.Id, status: holder.State.Status });
    return { id: holder.Id, adopted: holder };
  }
  if (holder) {
    log.info('replaced a container that had the name of a new one', { name, id: holder.Id, status: holder.State.Status });
    await deleteContainer(client, holder.Id, signal);
  }
  return (await post(name)) ?? { id: await postCreate(client, randomizedName(name, random), body, signal) };
}

function postCreate(client: EngineClient, name: string, body: CreateBody, signal: AbortSignal): Promise<string> {
  return client.call(`POST /containers/create?name=${name}`, client.requestTimeoutMs, signal, async (docker, abortSignal) => {
    // Without this split dockerode repeats the body, environment and all, in the URL.
    const options: ContainerCreateOptions & { readonly _query: object; readonly _body: CreateBody } = {
      _query: { name },
      _body: body,
      abortSignal,
    };
    const { id } = await docker.createContainer(options);
    if (!id) throw new Error('the engine named no container');
    return id;
  });
}

/** Succeeds when it runs already. */
export async function startCreated(client: EngineClient, id: string, signal: AbortSignal): Promise<void> {
  try {
    await client.call(`POST /containers/${id}/start`, client.requestTimeoutMs, signal, (docker, abortSignal) =>
      docker.getContainer(id).start({ abortSignal }),
    );
  } catch (error) {
    if (!isNotModified(error)) throw error;
  }
}
