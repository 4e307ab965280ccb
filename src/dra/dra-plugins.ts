import type { NamedPlugin, PluginHandler } from '../ports/plugin-handler.ts';
import type { DraDriver, DraService } from './dra-driver.ts';

const supported = ['v1.DRAPlugin', 'v1beta1.DRAPlugin'] as const satisfies readonly DraService[];

export interface DraPluginsDeps {
  readonly open: (service: DraService, socketPath: string) => Promise<DraDriver>;
  /** A driver can be called, or no longer. */
  readonly onChange: (driver: string, isThere: boolean) => void;
}

/** The drivers whose plugins are registered (pkg/kubelet/cm/dra/plugin). */
export class DraPlugins implements PluginHandler {
  readonly type = 'DRAPlugin';
  readonly #deps: DraPluginsDeps;
  readonly #drivers = new Map<string, DraDriver>();

  constructor(deps: DraPluginsDeps) {
    this.#deps = deps;
  }

  async register({ name, endpoint, versions }: NamedPlugin): Promise<void> {
    const driver = await this.#deps.open(serviceOf(name, endpoint, versions), endpoint);
    // What was asked of the one before goes on.
    this.#drivers.get(name)?.close();
    this.#drivers.set(name, driver);
    this.#deps.onChange(name, true);
  }

  async deregister({ name }: NamedPlugin): Promise<void> {
    this.#drivers.get(name)?.close();
    this.#drivers.delete(name);
    this.#deps.onChange(name, false);
  }

  has(name: string): boolean {
    return this.#drivers.has(name);
  }

  /** Throws in the kubelet's words where it is not registered. */
  get(name: string): DraDriver {
    const driver = this.#drivers.get(name);
    if (driver === undefined) throw new Error(`DRA driver ${name} is not registered`);
    return driver;
  }

  close(): void {
    for (const driver of this.#drivers.values()) driver.close();
    this.#drivers.clear();
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
