/** One device, as its plugin lists it. */
export interface PluginDevice {
  readonly id: string;
  readonly healthy: boolean;
  /** The NUMA nodes that it is attached to; empty: it does not matter. */
  readonly nodes: readonly number[];
}

interface Resource {
  /** Its plugin has listed its devices since it registered. */
  listed: boolean;
  devices: ReadonlyMap<string, PluginDevice>;
  healthyCount: number;
  /** Its plugin is gone since then; undefined: it is there. */
  stoppedAtMs: number | undefined;
}

/** How long what a plugin listed counts into the node's capacity once it is gone (endpointStopGracePeriod in pkg/kubelet/cm/devicemanager). */
export const FORGET_AFTER_MS = 5 * 60_000;

/**
 * The devices that plugins list, by resource ("nvidia.com/gpu"). Those of a plugin that is gone are not healthy, and after five minutes they are
 * forgotten. Moments are of a clock that nothing sets.
 */
export class DeviceInventory {
  readonly #resources = new Map<string, Resource>();

  /** Resources that plugins had listed when the agent ran last: known, without devices, until their plugins register or are forgotten. */
  restore(names: Iterable<string>, nowMs: number): void {
    for (const name of names) this.#resources.set(name, { listed: false, devices: new Map(), healthyCount: 0, stoppedAtMs: nowMs });
  }

  /** The resource's plugin has registered. */
  connected(name: string): void {
    const known = this.#resources.get(name);
    if (known) known.stoppedAtMs = undefined;
    else this.#resources.set(name, { listed: false, devices: new Map(), healthyCount: 0, stoppedAtMs: undefined });
  }

  /** All that the plugin has by now. Returns the devices that are new, gone, or otherwise than before, by their ids. */
  list(name: string, listed: readonly PluginDevice[]): ReadonlySet<string> {
    const before = this.#devices(name);
    const devices = new Map(listed.map((device) => [device.id, device]));
    const changed = new Set([...before.keys()].filter((id) => !devices.has(id)));
    for (const device of devices.values()) if (!isSame(before.get(device.id), device)) changed.add(device.id);
    const resource = this.#resources.get(name);
    if (resource) {
      resource.devices = devices;
      resource.healthyCount = [...devices.values()].filter(({ healthy }) => healthy).length;
      resource.listed = true;
    }
    return changed;
  }

  /** The plugin is gone: nothing of it is healthy. Returns what was so before. */
  stopped(name: string, nowMs: number): ReadonlySet<string> {
    const resource = this.#resources.get(name);
    if (!resource) return new Set();
    resource.stoppedAtMs ??= nowMs;
    resource.listed = false;
    const lost = [...resource.devices.values()].filter(({ healthy }) => healthy);
    resource.devices = new Map([...resource.devices].map(([id, device]) => [id, { ...device, healthy: false }]));
    resource.healthyCount = 0;
    return new Set(lost.map(({ id }) => id));
  }

  /** Drops what was forgotten by now; returns its names. */
  forget(nowMs: number): readonly string[] {
    const gone = [...this.#resources].filter(([, { stoppedAtMs }]) => stoppedAtMs !== undefined && nowMs - stoppedAtMs >= FORGET_AFTER_MS);
    for (const [name] of gone) this.#resources.delete(name);
    return gone.map(([name]) => name);
  }

  /** In how many milliseconds the next resource is forgotten; undefined: none is to be. */
  nextForgottenInMs(nowMs: number): number | undefined {
    const stops = [...this.#resources.values()].flatMap(({ stoppedAtMs }) => stoppedAtMs ?? []);
    return stops.length === 0 ? undefined : Math.max(0, Math.min(...stops) + FORGET_AFTER_MS - nowMs);
  }

  get names(): readonly string[] {
    return [...this.#resources.keys()];
  }

  has(name: string): boolean {
    return this.#resources.has(name);
  }

  /** Whether the resource's plugin has said what it has since it registered. */
  isListed(name: string): boolean {
    return this.#resources.get(name)?.listed ?? false;
  }

  /** Unknown: nobody is there who could tell. */
  healthOf(name: string, id: string): 'Healthy' | 'Unhealthy' | 'Unknown' {
    if (!this.isListed(name)) return 'Unknown';
    return this.device(name, id)?.healthy === true ? 'Healthy' : 'Unhealthy';
  }

  /** How many there are, and how many are not healthy. */
  counts(name: string): { readonly all: number; readonly unhealthy: number } {
    const { devices, healthyCount } = this.#resources.get(name) ?? { devices: none, healthyCount: 0 };
    return { all: devices.size, unhealthy: devices.size - healthyCount };
  }

  /** In the order in which they are listed. */
  devices(name: string): readonly PluginDevice[] {
    return [...this.#devices(name).values()];
  }

  device(name: string, id: string): PluginDevice | undefined {
    return this.#devices(name).get(id);
  }

  healthy(name: string): readonly PluginDevice[] {
    return this.devices(name).filter(({ healthy }) => healthy);
  }

  /** Whether any of the devices is attached to NUMA nodes: then all are placed by them. */
  isPlaced(name: string): boolean {
    return this.devices(name).some(({ nodes }) => nodes.length > 0);
  }

  #devices(name: string): ReadonlyMap<string, PluginDevice> {
    return this.#resources.get(name)?.devices ?? none;
  }
}

const none: ReadonlyMap<string, PluginDevice> = new Map();

const isSame = (one: PluginDevice | undefined, other: PluginDevice): boolean =>
  one !== undefined && one.healthy === other.healthy && one.nodes.join() === other.nodes.join();
