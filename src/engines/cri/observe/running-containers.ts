import { readFile } from 'node:fs/promises';
import { isGrpcError } from '../../../base/grpc/grpc-error.ts';
import { overlayUpperDir } from '../../../base/overlay-upper-dir.ts';
import type { PodUid } from '../../../model/pod.ts';
import { SANDBOX_NAME } from '../../../model/sandbox-name.ts';
import type { ContainerId } from '../../../ports/container-runtime.ts';
import type { RunningContainer, RunningPod, RunningPods } from '../../../ports/running-pods.ts';
import { pidIn } from '../access/running-container.ts';
import { type Container, ContainerState, NamespaceMode, type PodSandbox, PodSandboxState, RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';

type Client = Pick<CriClient, 'call'>;

interface Inspected {
  readonly container: RunningContainer;
  readonly network: RunningPod['network'];
}

/** What the runtime runs: two calls to list, and one more for each container that was not known yet. */
export class RunningContainers implements RunningPods {
  readonly #client: Client;
  readonly #known = new Map<string, Inspected>();

  constructor(client: Client) {
    this.#client = client;
  }

  async list(signal: AbortSignal): Promise<readonly RunningPod[]> {
    const { listPodSandbox, listContainers } = RuntimeService.method;
    const [sandboxes, containers] = await Promise.all([
      this.#client.call(listPodSandbox, { filter: { state: { state: PodSandboxState.SANDBOX_READY } } }, signal),
      this.#client.call(listContainers, { filter: { state: { state: ContainerState.CONTAINER_RUNNING } } }, signal),
    ]);
    const ids = new Set([...sandboxes.items, ...containers.containers].map(({ id }) => id));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    const pods = await Promise.all(
      sandboxes.items.map((sandbox) =>
        this.#pod(
          sandbox,
          containers.containers.filter(({ podSandboxId }) => podSandboxId === sandbox.id),
          signal,
        ),
      ),
    );
    return pods.filter((pod) => pod !== undefined);
  }

  stale(id: ContainerId): void {
    this.#known.delete(id);
  }

  /** Undefined: no pod of Kubernetes. */
  async #pod(sandbox: PodSandbox, containers: readonly Container[], signal: AbortSignal): Promise<RunningPod | undefined> {
    const { metadata } = sandbox;
    if (metadata === undefined || metadata.uid === '') return undefined;
    const [own, ...others] = await Promise.all([
      this.#inspect(sandbox.id, () => inspectSandbox(this.#client, sandbox, signal)),
      ...containers.map((each) => this.#inspect(each.id, () => inspectContainer(this.#client, each, signal))),
    ]);
    return {
      uid: metadata.uid as PodUid,
      name: metadata.name,
      namespace: metadata.namespace,
      network: own?.network ?? 'pod',
      sandbox: own?.container,
      containers: others.flatMap((each) => (each === undefined ? [] : [each.container])),
    };
  }

  async #inspect(id: string, inspect: () => Promise<Inspected | undefined>): Promise<Inspected | undefined> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const found = await inspect().catch((error: unknown) => {
      // It has gone since the listing.
      if (isGrpcError(error, 'NotFound')) return undefined;
      throw error;
    });
    if (found !== undefined) this.#known.set(id, found);
    return found;
  }
}

/** Undefined: its process has ended, or the runtime does not say which it is. */
async function inspectSandbox(client: Client, { id, createdAt }: PodSandbox, signal: AbortSignal): Promise<Inspected | undefined> {
  const { status, info } = await client.call(RuntimeService.method.podSandboxStatus, { podSandboxId: id, verbose: true }, signal);
  const pid = pidIn(info);
  if (pid === undefined || status === undefined) return undefined;
  const network = status.linux?.namespaces?.options?.network === NamespaceMode.NODE ? 'node' : 'pod';
  const container = { id: id as ContainerId, name: SANDBOX_NAME, engineName: id, image: '', startedAtMs: msOf(createdAt), pid };
  return { container: { ...container, writableLayer: await writableLayer(pid) }, network };
}

async function inspectContainer(client: Client, { id }: Container, signal: AbortSignal): Promise<Inspected | undefined> {
  const { status, info } = await client.call(RuntimeService.method.containerStatus, { containerId: id, verbose: true }, signal);
  const pid = pidIn(info);
  if (pid === undefined || status === undefined || status.state !== ContainerState.CONTAINER_RUNNING) return undefined;
  const { metadata, image, startedAt, resources, logPath } = status;
  const cpuShares = Number(resources?.linux?.cpuShares ?? 0n);
  return {
    container: {
      id: id as ContainerId,
      name: metadata?.name ?? '',
      engineName: id,
      image: image?.image ?? '',
      startedAtMs: msOf(startedAt),
      pid,
      cpuShares: cpuShares || undefined,
      logPath: logPath || undefined,
      writableLayer: await writableLayer(pid),
    },
    network: 'pod',
  };
}

/** The runtime does not say where it is; the process's own root does. Undefined where that is no overlay, or the process has gone. */
async function writableLayer(pid: number): Promise<string | undefined> {
  return overlayUpperDir(await readFile(`/proc/${pid}/mountinfo`, 'utf8').catch(() => ''));
}

/** From nanoseconds. */
const msOf = (ns: bigint): number => Number(ns / 1_000_000n);
