import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { SerialByKey } from '../base/serial-by-key.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { allocationFailed } from '../model/allocation-failed.ts';
import type { NumaMask } from '../model/numa-mask.ts';
import type { PodRefusal } from '../model/pod-admission.ts';
import { isSidecar } from '../model/pod-predicates.ts';
import { type Container, type Pod, type PodUid, aboutPod } from '../model/pod.ts';
import type { TopologyHint, TopologyHints } from '../model/topology-hint.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { ContainerAdditions } from '../ports/pod-participant.ts';
import { byNode, chooseDevices } from './choose-devices.ts';
import { allocationFault, deviceAdditions } from './device-additions.ts';
import type { Allocation, DeviceAllocations } from './device-allocations.ts';
import { deviceHints } from './device-hints.ts';
import type { DeviceInventory, PluginDevice } from './device-inventory.ts';
import { rpcText } from './device-plugin.ts';
import type { ConnectedPlugin } from './device-plugins.ts';
import { deviceRequests, podDeviceRequests } from './device-requests.ts';

export interface DeviceManagerDeps {
  readonly inventory: DeviceInventory;
  readonly allocations: DeviceAllocations;
  readonly plugins: { get(resource: string): ConnectedPlugin | undefined };
  /** Writes down who has what. Rejects where it cannot. */
  readonly save: () => Promise<void>;
  /** Of this machine. */
  readonly numaNodes: () => readonly number[];
  readonly log: Logger;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly tell: Pick<Happenings, 'devicesAllocated'>;
}

/** Gives containers of pods the devices of plugins (ManagerImpl in pkg/kubelet/cm/devicemanager), in its words where it cannot. */
export class DeviceManager {
  readonly #deps: DeviceManagerDeps;
  /** Two that ask for devices of one resource do not choose the same. */
  readonly #turns = new SerialByKey<string>();
  /** Of init containers that will have ended, of the pod that is being allocated for: by resource. */
  #reusable: { readonly uid: PodUid; readonly ids: Map<string, ReadonlySet<string>> } | undefined;

  /** Something was allocated that is not on the disk yet. */
  #unsaved = false;

  constructor(deps: DeviceManagerDeps) {
    this.#deps = deps;
  }

  /** Whether the resource is a plugin's, now or by what was allocated of it. */
  readonly isOfPlugins = (name: string): boolean => this.#deps.inventory.has(name) || this.#deps.allocations.uses(name);

  /** Gives all containers of the pod what they ask for; what they have already stays. */
  async admit(pod: Pod, signal: AbortSignal): Promise<PodRefusal | undefined> {
    for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
      const refusal = await this.allocate(pod, container, undefined, signal);
      if (refusal) return refusal;
    }
    return undefined;
  }

  /** What `admit` would say as far as no plugin has to be asked. */
  wouldAdmit(pod: Pod): PodRefusal | undefined {
    for (const [resource, count] of podDeviceRequests(pod, this.isOfPlugins)) {
      const fault = this.#unavailable(resource) ?? tooFew(resource, count, this.#available(resource).length);
      if (fault !== undefined) return allocationFailed(fault);
    }
    return undefined;
  }

  /** Gives one container what it asks for, from these NUMA nodes as far as they have it. */
  async allocate(pod: Pod, container: Container, near: NumaMask | undefined, signal: AbortSignal): Promise<PodRefusal | undefined> {
    try {
      await this.#allocateAll(pod, container, near, signal);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      return allocationFailed(rpcText(error));
    }
  }

  /**
   * What a container is made with. Devices that it should have and does not, as after a restart of the node, are allocated now; plugins that
   * want to know are told that it starts. Rejects where one of them will not.
   */
  async additions(pod: Pod, container: Container, env: ReadonlyMap<string, string>, signal: AbortSignal): Promise<ContainerAdditions> {
    const { allocations, plugins, log } = this.#deps;
    const { uid } = pod.metadata;
    const asked = deviceRequests(container, this.isOfPlugins);
    if ([...asked.keys()].some((resource) => !allocations.of(uid, container.name)?.has(resource)))
      await this.#allocateAll(pod, container, undefined, signal);
    else await this.#save();
    const own = allocations.of(uid, container.name);
    if (!own) return {};
    for (const [resource, { ids }] of own) {
      const connected = plugins.get(resource);
      if (connected?.options.preStartRequired) await connected.plugin.preStart([...ids], signal);
    }
    return deviceAdditions(own, env, (conflict) =>
      log.warn('devices of a container ask for different things in one place: the first counts', {
        ...aboutPod(pod),
        container: container.name,
        conflict,
      }),
    );
  }

  hints(pod: Pod, container: Container): TopologyHints {
    const own = this.#deps.allocations.of(pod.metadata.uid, container.name);
    const asked = deviceRequests(container, this.isOfPlugins);
    return new Map([...asked].map(([resource, count]) => [resource, this.#hintsOf(pod, resource, count, own?.get(resource)?.ids, true)]));
  }

  podHints(pod: Pod): TopologyHints {
    const containers = [...(this.#deps.allocations.ofPod(pod.metadata.uid)?.values() ?? [])];
    const asked = podDeviceRequests(pod, this.isOfPlugins);
    return new Map(
      [...asked].map(([resource, count]) => {
        const own = new Set(containers.flatMap((resources) => [...(resources.get(resource)?.ids ?? [])]));
        return [resource, this.#hintsOf(pod, resource, count, own.size > 0 ? own : undefined, false)];
      }),
    );
  }

  /** What cannot be written down is logged: it is left out when the agent begins again. */
  async release(uid: PodUid): Promise<void> {
    const { allocations, save, log } = this.#deps;
    if (this.#reusable?.uid === uid) this.#reusable = undefined;
    if (!allocations.release(uid)) return;
    await save().catch((error: unknown) => log.warn('devices are free again, which could not be written down', { uid, error }));
  }

  async #allocateAll(pod: Pod, container: Container, near: NumaMask | undefined, signal: AbortSignal): Promise<void> {
    for (const [resource, count] of deviceRequests(container, this.isOfPlugins)) {
      const turn = this.#turns.run(resource, async () => {
        signal.throwIfAborted();
        return this.#allocateOf(pod, container, { resource, count, near }, signal);
      });
      if (await unlessAborted(turn, signal)) this.#unsaved = true;
    }
    this.#noteReusable(pod, container);
    await this.#save();
  }

  /** What is not on the disk is another's after a restart. */
  async #save(): Promise<void> {
    if (!this.#unsaved) return;
    this.#unsaved = false;
    try {
      await this.#deps.save();
    } catch (error) {
      this.#unsaved = true;
      throw error;
    }
  }

  /** Resolves with whether anything was allocated. */
  async #allocateOf(
    pod: Pod,
    { name }: Container,
    { resource, count, near }: { readonly resource: string; readonly count: number; readonly near: NumaMask | undefined },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { inventory, allocations, plugins } = this.#deps;
    const { uid } = pod.metadata;
    const own = allocations.of(uid, name)?.get(resource)?.ids;
    if (own && own.size !== count)
      throw new Error(`pod "${uid}" container "${name}" changed request for resource "${resource}" from ${own.size} to ${count}`);
    const fault = this.#unavailable(resource);
    if (fault !== undefined) throw new Error(fault);
    const healthy = new Set(inventory.healthy(resource).map(({ id }) => id));
    if (own && !own.isSubsetOf(healthy))
      throw new Error(`previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}`);
    if (own) return false;
    const connected = plugins.get(resource);
    if (!connected) throw new Error(`endpoint ${resource} has been stopped`);
    const { plugin, options } = connected;
    const reusable = this.#reusableOf(uid, resource);
    const chosen = await chooseDevices({
      resource,
      required: count,
      reusable,
      available: this.#available(resource),
      near: inventory.isPlaced(resource) ? near : undefined,
      prefer: async (available, included, size) =>
        options.getPreferredAllocationAvailable ? plugin.preferred(available, included, size, signal) : undefined,
    });
    const letGo = allocations.hold(resource, chosen);
    try {
      const { containerResponses } = await this.#timed(resource, plugin.allocate([...chosen], signal));
      signal.throwIfAborted();
      const [response] = containerResponses;
      if (!response) throw new Error('no containers return in allocation response');
      const unusable = allocationFault(response);
      if (unusable !== undefined) throw new Error(`no container can have what device plugin ${resource} answers: ${unusable}`);
      allocations.insert(uid, name, resource, { ids: chosen, byNode: byNode(this.#placed(resource, chosen)), response });
    } finally {
      letGo();
    }
    return true;
  }

  async #timed<T>(resource: string, answer: Promise<T>): Promise<T> {
    const { clock, tell } = this.#deps;
    const askedAtMs = clock.monotonicMs();
    try {
      return await answer;
    } finally {
      tell.devicesAllocated({ resource, tookMs: clock.monotonicMs() - askedAtMs });
    }
  }

  #unavailable(resource: string): string | undefined {
    const { inventory } = this.#deps;
    if (!inventory.has(resource)) return `cannot allocate unregistered device ${resource}`;
    if (inventory.healthy(resource).length > 0) return undefined;
    return `no healthy devices present; cannot allocate unhealthy devices ${resource}`;
  }

  #available(resource: string): readonly PluginDevice[] {
    const used = this.#deps.allocations.inUse(resource);
    return this.#deps.inventory.healthy(resource).filter(({ id }) => !used.has(id));
  }

  /** Also of devices that are gone: they are attached to nothing. */
  #placed(resource: string, ids: Iterable<string>): readonly PluginDevice[] {
    return [...ids].map((id) => this.#deps.inventory.device(resource, id) ?? { id, healthy: false, nodes: [] });
  }

  #hintsOf(
    { metadata: { uid } }: Pod,
    resource: string,
    count: number,
    own: Allocation['ids'] | undefined,
    reuses: boolean,
  ): readonly TopologyHint[] | undefined {
    const { inventory, numaNodes } = this.#deps;
    if (!inventory.isPlaced(resource)) return undefined;
    const all = inventory.devices(resource);
    if (own) {
      const available = this.#placed(resource, own);
      return own.size === count ? deviceHints(numaNodes(), { all, available, reusable: [], count }) : [];
    }
    const reusable = reuses ? this.#placed(resource, this.#reusableOf(uid, resource)) : [];
    const available = this.#available(resource);
    return available.length + reusable.length < count ? [] : deviceHints(numaNodes(), { all, available, reusable, count });
  }

  #reusableOf(uid: PodUid, resource: string): ReadonlySet<string> {
    return (this.#reusable?.uid === uid ? this.#reusable.ids.get(resource) : undefined) ?? new Set();
  }

  #noteReusable({ metadata: { uid }, spec }: Pod, { name }: Container): void {
    const own = this.#deps.allocations.of(uid, name);
    if (!own) return;
    if (this.#reusable?.uid !== uid) this.#reusable = { uid, ids: new Map() };
    const init = spec.initContainers?.find((each) => each.name === name);
    for (const [resource, { ids }] of own) {
      const before = this.#reusableOf(uid, resource);
      this.#reusable.ids.set(resource, init && !isSidecar(init) ? before.union(ids) : before.difference(ids));
    }
  }
}

const tooFew = (resource: string, wanted: number, free: number): string | undefined =>
  free < wanted ? `requested number of devices unavailable for ${resource}. Requested: ${wanted}, Available: ${free}` : undefined;
