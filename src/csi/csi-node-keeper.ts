import { merge, Subject } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { drainInto } from '../base/drain-into.ts';
import { errorText } from '../base/error-text.ts';
import { exponential } from '../base/exponential.ts';
import { jitter } from '../base/jitter.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import { abortable } from '../base/abortable.ts';
import { anySignal } from '../base/any-signal.ts';
import { ApiError, isNotFound } from '../model/api-error.ts';
import type { Node } from '../model/node.ts';
import type { Cluster } from '../ports/cluster.ts';
import { type CsiNode, csiNodeWith, nodeChange, type ShownDrivers } from './csi-node.ts';
import type { CsiDrivers } from './csi-drivers.ts';

export interface CsiNodeKeeperDeps {
  readonly cluster: Pick<Cluster, 'clients' | 'node' | 'nodeChanges'>;
  readonly nodeName: string;
  readonly drivers: Pick<CsiDrivers, 'list' | 'gone' | 'changes'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Logger, 'warn' | 'info'>;
}

const retryMs = exponential(1_000, 60_000);
/** From one look to the next: a driver that comes and goes without end is no more than a few requests a second. */
const GAP_MS = 1_000;

/**
 * Shows the registered drivers in the cluster: the node's CSINode, its annotation and labels, by which volumes are attached and pods scheduled. What
 * it could not write is written later; the drivers serve meanwhile. It asks for nothing before the first driver has registered.
 */
export class CsiNodeKeeper {
  readonly #deps: CsiNodeKeeperDeps;
  readonly #faults = new OngoingFaults<string>(16);
  #isDue = false;
  #rouse = (): void => {};

  constructor(deps: CsiNodeKeeperDeps) {
    this.#deps = deps;
  }

  /** Until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { drivers, cluster } = this.#deps;
    const due = (): void => {
      this.#isDue = true;
      this.#rouse();
    };
    // A Node that was made again has neither annotation nor labels.
    let uid: string | undefined;
    const renewed = new Subject<void>();
    const seeing = drainInto(
      cluster.nodeChanges,
      (node) => {
        const before = uid;
        uid = node?.metadata?.uid;
        if (uid !== undefined && uid !== before && drivers.list().length > 0) renewed.next();
      },
      signal,
    );
    const hearing = drainInto(merge(drivers.changes, renewed), due, signal);
    if (drivers.list().length > 0) due();
    await Promise.all([seeing, hearing, this.#loop(signal)]);
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#deps;
    let failures = 0;
    while (!signal.aborted) {
      if (!this.#isDue) await this.#news(signal).catch(() => {});
      if (signal.aborted) return;
      this.#isDue = false;
      try {
        await this.#show(signal);
        failures = 0;
        if (this.#faults.over('sync')) log.info('CSI drivers shown in the cluster again');
        await clock.sleep(GAP_MS, signal).catch(() => {});
      } catch (error) {
        if (signal.aborted) return;
        this.#isDue = true;
        failures++;
        if (this.#faults.fault('sync', error)) log.warn('CSI drivers not shown in the cluster, retrying', { error });
        using pause = anySignal(signal);
        await Promise.race([clock.sleep(jitter(retryMs(failures), 0.2, random), pause.signal), this.#news(pause.signal)]).catch(() => {});
        pause.abort();
      }
    }
  }

  #news(signal: AbortSignal): Promise<void> {
    return abortable(signal, (resolve) => {
      this.#rouse = resolve;
    });
  }

  async #show(signal: AbortSignal): Promise<void> {
    const { cluster, nodeName, drivers } = this.#deps;
    const api = cluster.clients.main;
    let node = cluster.node() ?? (await api.request<Node>({ method: 'GET', path: `/api/v1/nodes/${nodeName}` }, signal));
    const shown = { here: drivers.list(), gone: drivers.gone() };
    try {
      await this.#write(node, shown, signal);
      return;
    } catch (error) {
      if (!isRefused(error) || shown.here.length < 2) throw error;
    }
    // What is refused may be of one of them: the others are shown without it.
    const refused: string[] = [];
    for (const driver of shown.here) {
      try {
        node = await this.#write(node, { ...shown, here: [driver] }, signal);
      } catch (error) {
        if (!isRefused(error)) throw error;
        refused.push(`CSI driver ${driver.name}: ${errorText(error)}`);
      }
    }
    if (refused.length > 0) throw new Error(refused.join('; '));
  }

  /** Resolves with the Node as it is then. */
  async #write(before: Node, shown: ShownDrivers, signal: AbortSignal): Promise<Node> {
    const { cluster, nodeName, log } = this.#deps;
    const api = cluster.clients.main;
    let node = before;
    const { patch, faults } = nodeChange(node, shown);
    for (const fault of faults) if (this.#faults.fault(fault)) log.warn('topology of a CSI driver not shown', { fault });
    if (patch !== undefined) {
      const path = `/api/v1/nodes/${nodeName}/status`;
      node = await api.request<Node>({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body: patch }, signal);
    }
    const collection = '/apis/storage.k8s.io/v1/csinodes';
    const csiNode = await api
      .request<CsiNode>({ method: 'GET', path: `${collection}/${nodeName}` }, signal)
      .catch((error: unknown) => (isNotFound(error) ? undefined : rethrow(error)));
    const after = csiNodeWith(csiNode, node, shown);
    if (after === undefined) return node;
    // A conflict is tried again like all that fails.
    if (csiNode === undefined) await api.request({ method: 'POST', path: collection, body: after }, signal);
    else await api.request({ method: 'PUT', path: `${collection}/${nodeName}`, body: after }, signal);
    return node;
  }
}

/** What is asked for is not allowed, or cannot be: not by who asks, nor when. */
const isRefused = (error: unknown): boolean => error instanceof ApiError && [400, 403, 422].includes(error.status);

function rethrow(error: unknown): never {
  throw error;
}
