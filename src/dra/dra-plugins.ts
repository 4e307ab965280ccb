import type { NamedPlugin, PluginHandler } from '../ports/plugin-handler.ts';
import { driverNameFault } from './driver-name.ts';
import type { DraDriver, DraHealthService, DraService, DraServices } from './dra-driver.ts';

const supported = ['v1.DRAPlugin', 'v1beta1.DRAPlugin'] as const satisfies readonly DraService[];

/** The newest first. */
const supportedHealth = ['v1.DRAResourceHealth', 'v1alpha1.DRAResourceHealth'] as const satisfies readonly DraHealthService[];

/** More are refused: each has a connection, and a place in a selector of the API. */
const MAX_DRIVERS = 128;

export interface DraPluginsDeps {
  readonly open: (name: string, services: DraServices, socketPath: string, onChange: (isConnected: boolean) => void) => Promise<DraDriver>;
  /** Runs for as long as the driver is registered. Never rejects. */
  readonly watch: (name: string, driver: DraDriver, signal: AbortSignal) => Promise<void>;
  /** A driver is known, and may be called. */
  readonly onRegistered: (driver: string) => void;
  /** A driver listens on its socket, or no longer does. One that has registered need not. */
  readonly onChange: (driver: string, isThere: boolean) => void;
}

/** The drivers whose plugins are registered (pkg/kubelet/cm/dra/plugin). */
export class DraPlugins implements PluginHandler {
  readonly type = 'DRAPlugin';
  readonly #deps: DraPluginsDeps;
  readonly #drivers = new Map<string, { readonly driver: DraDriver; readonly stop: AbortController }>();
  #isClosed = false;

  constructor(deps: DraPluginsDeps) {
    this.#deps = deps;
  }

  async register({ name, endpoint, versions }: NamedPlugin, signal: AbortSignal): Promise<void> {
    const fault = driverNameFault(name);
    if (fault !== undefined) throw new Error(fault);
    if (!this.#drivers.has(name) && this.#drivers.size >= MAX_DRIVERS)
      throw new Error(`the node has ${MAX_DRIVERS} DRA drivers, and takes no more`);
    const service = serviceOf(name, endpoint, versions);
    const health = supportedHealth.find((each) => versions.includes(each));
    const stop = new AbortController();
    const driver = await this.#deps.open(name, { service, health }, endpoint, (isConnected) => {
      if (!stop.signal.aborted) this.#deps.onChange(name, isConnected);
    });
    // It may have been deregistered meanwhile: what is started below would never be stopped.
    if (signal.aborted || this.#isClosed) {
      driver.close();
      throw signal.reason ?? new Error(`DRA driver ${name} is not registered: the agent stops`);
    }
    this.#end(name);
    this.#drivers.set(name, { driver, stop });
    // Until it is found to listen.
    this.#deps.onChange(name, false);
    this.#deps.onRegistered(name);
    void driver.stayConnected(stop.signal);
    void this.#deps.watch(name, driver, stop.signal);
  }

  async deregister({ name }: NamedPlugin): Promise<void> {
    this.#end(name);
    this.#deps.onChange(name, false);
  }

  has(name: string): boolean {
    return this.#drivers.has(name);
  }

  /** Throws in the kubelet's words where it is not registered. */
  get(name: string): DraDriver {
    const registered = this.#drivers.get(name);
    if (registered === undefined) throw new Error(`DRA driver ${name} is not registered`);
    return registered.driver;
  }

  /** None is registered any more. */
  close(): void {
    this.#isClosed = true;
    for (const name of this.#drivers.keys()) this.#end(name);
  }

  /** What was asked of it goes on, but for what it would go on saying. */
  #end(name: string): void {
    const registered = this.#drivers.get(name);
    this.#drivers.delete(name);
    registered?.stop.abort();
    registered?.driver.close();
  }
}

/** Throws in the kubelet's words. */
function serviceOf(name: string, endpoint: string, versions: readonly string[]): DraService {
  const service = supported.find((each) => versions.includes(each));
  if (service !== undefined) return service;
  const why =
    versions.length === 0
      ? 'empty list of supported gRPC services (aka supported versions)'
      : `none of services supported by the plugin (${quoted(versions)}) are supported by the kubelet (${quoted(supported)})`;
  throw new Error(`invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}: ${why}`);
}

/** As Go prints them by %q. */
const quoted = (all: readonly string[]): string => `[${all.map((each) => JSON.stringify(each)).join(' ')}]`;
