import { Subject } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import type { GrpcCallEnd } from '../base/grpc/grpc-client.ts';
import { LruMap } from '../base/lru-map.ts';
import type { Logger } from '../base/logger.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { NamedPlugin, PluginHandler } from '../ports/plugin-handler.ts';
import type { CsiDriver } from './csi-driver.ts';
import { driverNameFault, versionsFault } from './csi-driver-name.ts';

export interface CsiDriversDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Logger, 'info'>;
  readonly tell: Pick<Happenings, 'csiDriverCalled'>;
}

/** More are refused: each has a connection, and a place in the node's objects. */
const MAX_DRIVERS = 128;

/** The drivers that have registered on the node (pkg/volume/csi DriversStore). */
export class CsiDrivers implements PluginHandler {
  readonly type = 'CSIPlugin';
  readonly #deps: CsiDriversDeps;
  /** By name in lower case: by the specification, names that differ in case alone are one. */
  readonly #known = new Map<string, CsiDriver>();
  /** Names of those that are no longer there, the last ones. */
  readonly #gone = new LruMap<string, true>(MAX_DRIVERS);
  readonly #changes = new Subject<void>();
  /** Emits when another driver is known, or one no longer. Hot. */
  readonly changes = this.#changes.asObservable();

  constructor(deps: CsiDriversDeps) {
    this.#deps = deps;
  }

  async register({ name, endpoint, versions }: NamedPlugin, signal: AbortSignal): Promise<void> {
    const { clock, random, log, tell } = this.#deps;
    const fault = driverNameFault(name) ?? versionsFault(versions);
    if (fault !== undefined) throw new Error(fault);
    const key = name.toLowerCase();
    const known = this.#known.get(key)?.name ?? name;
    if (known !== name) throw new Error(`there is a CSI driver ${known} on the node, and the name ${name} differs in case alone`);
    if (!this.#known.has(key) && this.#known.size >= MAX_DRIVERS)
      throw new Error(`the node has ${MAX_DRIVERS} CSI drivers, and takes no more`);
    // The first driver loads what speaks to it.
    const { openCsiDriver } = await import('./csi-driver.ts');
    const onCallEnd = (call: GrpcCallEnd, isMigrated: boolean): void => tell.csiDriverCalled({ driver: name, isMigrated, ...call });
    const driver = await openCsiDriver({ name, endpoint }, { clock, random, onCallEnd }, signal);
    this.#known.get(key)?.close();
    this.#known.set(key, driver);
    this.#gone.delete(name);
    log.info('CSI driver registered', { driver: name, nodeId: driver.info.nodeId });
    this.#changes.next();
  }

  async deregister({ name }: NamedPlugin): Promise<void> {
    const driver = this.#known.get(name.toLowerCase());
    if (driver === undefined) return;
    this.#known.delete(name.toLowerCase());
    driver.close();
    this.#gone.set(driver.name, true);
    this.#deps.log.info('CSI driver deregistered', { driver: name });
    this.#changes.next();
  }

  /** In the order of their names. */
  list(): readonly CsiDriver[] {
    return [...this.#known.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The names of those that have gone and not come back. */
  gone(): readonly string[] {
    return [...this.#gone.keys()];
  }

  find(name: string): CsiDriver | undefined {
    return this.#known.get(name.toLowerCase());
  }

  /** Throws in the kubelet's words where there is none. */
  get(name: string): CsiDriver {
    const driver = this.find(name);
    if (driver === undefined) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
    return driver;
  }

  /** Ends all calls. */
  close(): void {
    for (const driver of this.#known.values()) driver.close();
    this.#known.clear();
  }
}
