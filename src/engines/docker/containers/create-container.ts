import type { ContainerCreateOptions, ContainerInspectInfo } from 'dockerode';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import type { CreateBody, CreateRequest } from './create-body.ts';
import { randomizedName } from '../identity/docker-names.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { isNotModified } from '../client/engine-errors.ts';
import { inspectContainer } from '../client/inspect-container.ts';
import type { UnmadeContainers } from './unmade-containers.ts';
import { deleteContainer } from './remove-container.ts';

export interface Creating {
  readonly client: EngineClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly unmade: UnmadeContainers;
}

export interface Created {
  readonly id: string;
  /** Set when a container of that name was there already and fits. */
  readonly adopted: ContainerInspectInfo | undefined;
}

/** A create that was given up on holds its name a while before the engine shows the container. */
const PATIENCE_MS = [100, 400, 1500] as const;

/**
 * Creates a container. When its name is taken, by a create whose answer was lost or by a crashed agent's leftover, the holder is adopted
 * if it `fits`, else replaced. A name that the engine holds for nothing is waited for, then evaded (pkg/kubelet/dockershim recoverFromCreationConflictIfNeeded).
 */
export async function createContainer(
  { client, clock, log, random, unmade }: Creating,
  { name, body }: CreateRequest,
  fits: (holder: ContainerInspectInfo) => boolean,
  signal: AbortSignal,
): Promise<Created> {
  const post = async (as: string): Promise<Created | undefined> => {
    unmade.begin(as);
    try {
      const id = await postCreate(client, as, body, signal);
      unmade.made(as);
      return { id, adopted: undefined };
    } catch (error) {
      if ((await client.dialect(signal)).isNameTaken(error)) return undefined;
      throw error;
    }
  };
  let created = await post(name);
  for (const waitMs of PATIENCE_MS) {
    if (created) return created;
    const holder = await inspectContainer(client, name, signal);
    if (holder && fits(holder)) {
      unmade.made(name);
      log.info('container that had the name of a new one adopted', { name, id: holder.Id, status: holder.State.Status });
      return { id: holder.Id, adopted: holder };
    }
    if (holder) {
      log.info('container that had the name of a new one replaced', { name, id: holder.Id, status: holder.State.Status });
      await deleteContainer(client, holder.Id, signal);
    } else {
      await clock.sleep(waitMs, signal);
    }
    created = await post(name);
  }
  return created ?? { id: await postCreate(client, randomizedName(name, random), body, signal), adopted: undefined };
}

function postCreate(client: EngineClient, name: string, body: CreateBody, signal: AbortSignal): Promise<string> {
  return client.call(`POST /containers/create?name=${name}`, client.requestTimeoutMs, signal, async (docker) => {
    // Without this split dockerode repeats the body, environment and all, in the URL.
    const options: ContainerCreateOptions & { readonly _query: object; readonly _body: CreateBody } = {
      _query: { name },
      _body: body,
    };
    const { id } = await docker.createContainer(options);
    if (!id) throw new Error('the engine named no container');
    return id;
  });
}

/** Succeeds when it runs already. */
export async function startCreated(client: EngineClient, id: string, signal: AbortSignal): Promise<void> {
  try {
    await client.call(`POST /containers/${id}/start`, client.requestTimeoutMs, signal, (docker) => docker.getContainer(id).start());
  } catch (error) {
    if (!isNotModified(error)) throw error;
  }
}
