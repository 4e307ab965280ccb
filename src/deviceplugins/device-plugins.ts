import { anySignal } from '../base/any-signal.ts';
import type { Clock } from '../base/clock.ts';
import { GrpcError } from '../base/grpc/grpc-error.ts';
import type { Logger } from '../base/logger.ts';
import { printable } from '../base/printable.ts';
import { TokenBucket } from '../base/token-bucket.ts';
import { isExtendedResourceName } from '../model/validation/resources.ts';
import type { DevicePluginOptions } from './api/deviceplugin_pb.js';
import type { PluginDevice } from './device-inventory.ts';
import { DevicePlugin, rpcText } from './device-plugin.ts';
import { listedDevices } from './listed-devices.ts';

/** The only version of the protocol that there is (SupportedVersions in k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1). */
export const VERSION = 'v1beta1';

/** Resources that have had a plugin since the agent began: the node's status keeps their names. Far more than nodes have. */
const MOST_RESOURCES = 512;
/** Registrations that wait for their plugin to answer. */
const MOST_CONNECTING = 32;
/** Lists of one plugin that are taken at once and a second; the next ones wait in its own socket. */
const LISTS = { qps: 10, burst: 20 };
/** A list is followed by a pause of a millisecond for so many of its parts: one that changes all the time takes a part of a CPU. */
const PARTS_PER_MS = 50;

export interface DevicePluginsDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly onConnected: (resource: string) => void;
  readonly onList: (resource: string, devices: readonly PluginDevice[]) => void;
  readonly onGone: (resource: string) => void;
}

export interface ConnectedPlugin {
  readonly plugin: DevicePlugin;
  readonly options: DevicePluginOptions;
}

/** The plugins that have registered, one for each resource: one that registers takes the place of that before. */
export class DevicePlugins {
  readonly #deps: DevicePluginsDeps;
  readonly #connected = new Map<string, ConnectedPlugin>();
  readonly #resources = new Set<string>();
  readonly #stopping = new AbortController();
  /** The newest registration of each resource that waits for its plugin. */
  readonly #connecting = new Map<string, AbortController>();
  #waiting = 0;

  constructor(deps: DevicePluginsDeps) {
    this.#deps = deps;
  }

  /** Undefined: it is gone, or was never there. */
  get(resource: string): ConnectedPlugin | undefined {
    return this.#connected.get(resource);
  }

  /** Connects, and follows what it lists. Rejects, for the plugin to know, where it cannot be taken; one that registers again meanwhile counts. */
  async register(resource: string, socketPath: string, signal: AbortSignal): Promise<void> {
    if (!isExtendedResourceName(resource)) throw new Error(`the ResourceName ${JSON.stringify(resource)} is invalid`);
    const { clock, random, log, onConnected } = this.#deps;
    if (!this.#resources.has(resource) && this.#resources.size >= MOST_RESOURCES)
      throw exhausted(`${MOST_RESOURCES} resources have had a device plugin since the agent began: no more are taken`);
    if (this.#waiting >= MOST_CONNECTING) throw exhausted(`${MOST_CONNECTING} device plugins are being connected to: try again later`);
    log.info('device plugin registers', { resource, socketPath: printable(socketPath) });
    this.#connecting.get(resource)?.abort(new Error(`another plugin has registered for ${resource} meanwhile`));
    const mine = new AbortController();
    this.#connecting.set(resource, mine);
    const plugin = new DevicePlugin({ resource, socketPath, clock, random });
    this.#waiting++;
    try {
      using any = anySignal(signal, mine.signal, this.#stopping.signal);
      const options = await plugin.connect(any.signal);
      this.#connected.get(resource)?.plugin.close();
      this.#connected.set(resource, { plugin, options });
      this.#resources.add(resource);
    } catch (error) {
      plugin.close();
      log.warn('device plugin not taken', { resource, error });
      throw error;
    } finally {
      this.#waiting--;
      if (this.#connecting.get(resource) === mine) this.#connecting.delete(resource);
    }
    onConnected(resource);
    void this.#follow(resource, plugin);
  }

  /** Its socket is gone. */
  deregister(resource: string): void {
    this.#connecting.get(resource)?.abort(new Error('the plugin is gone'));
    this.#connected.get(resource)?.plugin.close();
  }

  close(): void {
    this.#stopping.abort(new Error('the agent stops'));
    for (const { plugin } of this.#connected.values()) plugin.close();
  }

  async #follow(resource: string, plugin: DevicePlugin): Promise<void> {
    const { log, onGone } = this.#deps;
    const { signal } = this.#stopping;
    let why = 'it ended its list of devices';
    try {
      await this.#takeLists(resource, plugin, signal);
    } catch (error) {
      why = rpcText(error);
    }
    plugin.close();
    if (signal.aborted || this.#connected.get(resource)?.plugin !== plugin) return;
    this.#connected.delete(resource);
    log.warn('device plugin is gone: its devices are not healthy until it registers again', { resource, why });
    onGone(resource);
  }

  async #takeLists(resource: string, plugin: DevicePlugin, signal: AbortSignal): Promise<void> {
    const { clock, log, onList } = this.#deps;
    const bucket = new TokenBucket({ rate: () => LISTS, clock });
    let saidRefused = false;
    for await (const list of plugin.list(signal)) {
      // Who registered after it is the one that counts.
      if (this.#connected.get(resource)?.plugin !== plugin) return;
      const { devices, refused, parts } = listedDevices(list.devices);
      if (refused.length > 0 && !saidRefused) {
        saidRefused = true;
        const example = printable((refused[0] ?? '').slice(0, 40));
        log.warn('devices left out: an id has to be 1 to 1024 bytes without control characters', {
          resource,
          count: refused.length,
          example,
        });
      }
      onList(resource, devices);
      await bucket.acquire(signal);
      if (parts >= PARTS_PER_MS) await clock.sleep(Math.ceil(parts / PARTS_PER_MS), signal);
    }
  }
}

const exhausted = (details: string): GrpcError => new GrpcError('', { code: 'ResourceExhausted', details });
