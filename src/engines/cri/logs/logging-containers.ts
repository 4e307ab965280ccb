import { isWithin } from '../../../base/mount-info.ts';
import { isGrpcError } from '../../../base/grpc/grpc-error.ts';
import type { ContainerId } from '../../../ports/container-runtime.ts';
import { ContainerState, RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import type { LoggingContainer } from './log-rotation.ts';

type Client = Pick<CriClient, 'call'>;

/** The containers that run and write into the directory of pods' logs: one call to list, and one more for each that was not known yet. */
export class LoggingContainers {
  readonly #client: Client;
  readonly #podLogsDir: string;
  readonly #known = new Map<string, string>();

  constructor(client: Client, podLogsDir: string) {
    this.#client = client;
    this.#podLogsDir = podLogsDir;
  }

  async list(signal: AbortSignal): Promise<readonly LoggingContainer[]> {
    const filter = { state: { state: ContainerState.CONTAINER_RUNNING } };
    const { containers } = await this.#client.call(RuntimeService.method.listContainers, { filter }, signal);
    const ids = new Set(containers.map(({ id }) => id));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    for (const { id } of containers) if (!this.#known.has(id)) this.#known.set(id, await this.#logPath(id, signal));
    // What others run on the same runtime is theirs to rotate.
    return [...this.#known]
      .filter(([, logPath]) => isWithin(logPath, this.#podLogsDir))
      .map(([id, logPath]) => ({ id: id as ContainerId, logPath }));
  }

  /** The runtime goes on in a new file at the path of the log. */
  async reopen(containerId: ContainerId, signal: AbortSignal): Promise<void> {
    await this.#client.call(RuntimeService.method.reopenContainerLog, { containerId }, signal);
  }

  /** Empty: it has none, or has gone since the listing. */
  async #logPath(containerId: string, signal: AbortSignal): Promise<string> {
    try {
      const { status } = await this.#client.call(RuntimeService.method.containerStatus, { containerId }, signal);
      return status?.logPath ?? '';
    } catch (error) {
      if (isGrpcError(error, 'NotFound')) return '';
      throw error;
    }
  }
}
