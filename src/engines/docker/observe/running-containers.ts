import type { ContainerInspectInfo } from 'dockerode';
import type { PodUid } from '../../../model/pod.ts';
import { SANDBOX_NAME } from '../../../model/sandbox-name.ts';
import type { ContainerId } from '../../../ports/container-runtime.ts';
import type { RunningContainer, RunningPod, RunningPods } from '../../../ports/running-pods.ts';
import { dockerTimeMs, listedPhase } from './container-state.ts';
import { POD_UID_LABEL } from '../../common/identity/pod-labels.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { inspectContainer } from '../client/inspect-container.ts';
import { listContainers, type ListedContainer } from './list-pods.ts';

interface Inspected {
  readonly container: RunningContainer;
  readonly network: RunningPod['network'];
}

/** What the engine runs: one call to list, and one more for each container that was not known yet. */
export class RunningContainers implements RunningPods {
  readonly #client: EngineClient;
  readonly #known = new Map<string, Inspected>();

  constructor(client: EngineClient) {
    this.#client = client;
  }

  async list(signal: AbortSignal): Promise<readonly RunningPod[]> {
    const listed = await listContainers(this.#client, [POD_UID_LABEL], signal);
    const running = listed.filter(({ info }) => listedPhase(info.State) === 'running');
    const ids = new Set(running.map(({ id }) => id));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    const inspected = await Promise.all(running.map(async (each) => ({ each, found: await this.#inspect(each, signal) })));
    const pods = new Map<string, { pod: RunningPod; containers: RunningContainer[] }>();
    for (const { each, found } of inspected) {
      if (found === undefined) continue;
      const { uid, pod: name, namespace } = each.name;
      const containers = pods.get(uid)?.containers ?? [];
      const before = pods.get(uid)?.pod ?? { uid: uid as PodUid, name, namespace, network: 'pod', containers };
      const { container, network } = found;
      if (each.kind === 'sandbox') pods.set(uid, { pod: { ...before, network, sandbox: container }, containers });
      else {
        containers.push(container);
        pods.set(uid, { pod: before, containers });
      }
    }
    return [...pods.values()].map(({ pod }) => pod);
  }

  stale(id: ContainerId): void {
    this.#known.delete(id);
  }

  async #inspect({ id, kind, name }: ListedContainer, signal: AbortSignal): Promise<Inspected | undefined> {
    const known = this.#known.get(id);
    if (known) return known;
    const info = await inspectContainer(this.#client, id, signal);
    if (!info?.State.Running) return undefined;
    const found: Inspected = {
      container: running(info, kind === 'sandbox' ? SANDBOX_NAME : name.container),
      network: info.HostConfig.NetworkMode === 'host' ? 'node' : 'pod',
    };
    this.#known.set(id, found);
    return found;
  }
}

function running(info: ContainerInspectInfo, name: string): RunningContainer {
  const { Id, Name, State, Created, Config, HostConfig, LogPath, GraphDriver } = info;
  // Other storage drivers have no such directory, or count their space themselves.
  const upper: unknown = Object.entries(GraphDriver?.Data ?? {}).find(([key]) => key === 'UpperDir')?.[1];
  return {
    id: Id as ContainerId,
    name,
    engineName: Name.replace(/^\//, ''),
    image: Config.Image,
    startedAtMs: dockerTimeMs(State.StartedAt) ?? dockerTimeMs(Created) ?? 0,
    pid: State.Pid,
    cpuShares: HostConfig.CpuShares || undefined,
    logPath: LogPath || undefined,
    writableLayer: typeof upper === 'string' ? upper : undefined,
  };
}

/** Where the engine keeps its data, images among them; undefined when it does not say. */
export async function engineDataDirectory(client: EngineClient, signal: AbortSignal): Promise<string | undefined> {
  const { DockerRootDir: directory } = await client.about('info', signal);
  return typeof directory === 'string' ? directory : undefined;
}
