import type { V1Lease, V1OwnerReference } from '@kubernetes/client-node';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { exponential } from '../base/exponential.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { Service } from '../base/service.ts';
import { isConflict, isNotFound } from '../model/api-error.ts';
import type { Node } from '../model/node.ts';
import { formatMicroTime } from '../model/time.ts';
import type { Wire } from '../model/wire.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { KubeApi } from '../ports/kube-api.ts';
import { nodePath } from './register-node.ts';

type Lease = Wire<V1Lease>;

export interface NodeLeaseDeps {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly log: Logger;
  /** The heartbeat door. */
  readonly api: KubeApi;
  readonly nodeName: string;
  readonly leaseDurationSeconds: number;
  readonly tell: Pick<Happenings, 'leaseTried'>;
}

/** k8s.io/component-helpers/apimachinery/lease, pkg/kubelet nodeLeaseRenewIntervalFraction. */
const RENEW_FRACTION = 0.25;
const MAX_UPDATE_RETRIES = 5;
/** The first wait is twice 100 ms. */
const ensureBackoffMs = exponential(200, 7_000);
/** Until the node is registered, which its lease is to belong to. */
const NO_NODE_RETRY_MS = 1_000;

const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

/**
 * Keeps the node's lease, by which the control plane knows that the node is alive: renewed every quarter of its duration, and owned by the
 * Node so that it goes with it.
 */
export class NodeLease implements Service {
  readonly name = 'node lease';
  readonly #deps: NodeLeaseDeps;
  /** As the API server last returned it: renewed without reading it again. */
  #latest: Lease | undefined;
  readonly #faults = new OngoingFaults<'lease'>();

  constructor(deps: NodeLeaseDeps) {
    this.#deps = deps;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, leaseDurationSeconds } = this.#deps;
    const renewIntervalMs = leaseDurationSeconds * 1000 * RENEW_FRACTION;
    try {
      while (!signal.aborted) {
        const held = await this.sync(signal);
        await clock.sleep(held ? renewIntervalMs : Math.min(NO_NODE_RETRY_MS, renewIntervalMs), signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Creates or renews the lease once. False: there is no Node yet that it could belong to. */
  async sync(signal: AbortSignal): Promise<boolean> {
    if (this.#latest && (await this.#renew(this.#latest, signal))) return true;
    const ensured = await this.#ensure(signal);
    this.#latest = ensured?.lease;
    if (!ensured) return false;
    if (ensured.created) this.#succeeded();
    else await this.#renew(ensured.lease, signal);
    return true;
  }

  /** Up to five times at once. A conflict reads the lease again, other errors repeat; from the second on the connections are suspect. */
  async #renew(base: Lease, signal: AbortSignal): Promise<boolean> {
    const { api, nodeName } = this.#deps;
    let from: Lease | undefined = base;
    for (let failures = 0; failures < MAX_UPDATE_RETRIES; failures++) {
      try {
        const body: Lease = await this.#renewed(from ?? this.#fresh(), signal);
        this.#latest = await api.request<Lease>({ method: 'PUT', path: `${leasesPath}/${nodeName}`, body }, signal);
        this.#succeeded();
        return true;
      } catch (error) {
        signal.throwIfAborted();
        this.#failed(error);
        if (isConflict(error)) from = (await this.#ensure(signal))?.lease;
        else if (failures > 0) api.closeConnections();
      }
    }
    return false;
  }

  /** Reads or creates the lease, for as long as it takes. Undefined when it cannot be created for want of a Node. */
  async #ensure(signal: AbortSignal): Promise<{ readonly lease: Lease; readonly created: boolean } | undefined> {
    const { clock } = this.#deps;
    for (let failures = 1; ; failures++) {
      try {
        return await this.#readOrCreate(signal);
      } catch (error) {
        signal.throwIfAborted();
        this.#failed(error);
        await clock.sleep(ensureBackoffMs(failures), signal);
      }
    }
  }

  async #readOrCreate(signal: AbortSignal): Promise<{ readonly lease: Lease; readonly created: boolean } | undefined> {
    const { api, nodeName, clock } = this.#deps;
    try {
      return { lease: await api.request<Lease>({ method: 'GET', path: `${leasesPath}/${nodeName}` }, signal), created: false };
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    const owner = await this.#owner(signal);
    if (!owner) return undefined;
    const fresh = this.#fresh();
    const body: Lease = {
      ...fresh,
      metadata: { ...fresh.metadata, ownerReferences: [owner] },
      spec: { ...fresh.spec, renewTime: formatMicroTime(clock.now()) },
    };
    return { lease: await api.request<Lease>({ method: 'POST', path: leasesPath, body }, signal), created: true };
  }

  #fresh(): Lease {
    const { nodeName, leaseDurationSeconds } = this.#deps;
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: nodeName, namespace: 'kube-node-lease' },
      spec: { holderIdentity: nodeName, leaseDurationSeconds },
    };
  }

  /** Renewed now, and owned by the Node if that can be read; if not, renewed all the same. */
  async #renewed(base: Lease, signal: AbortSignal): Promise<Lease> {
    const owned = (base.metadata?.ownerReferences ?? []).length > 0;
    const owner = owned ? undefined : await this.#owner(signal);
    return {
      ...base,
      ...(owner && { metadata: { ...base.metadata, ownerReferences: [owner] } }),
      spec: { ...base.spec, ...this.#fresh().spec, renewTime: formatMicroTime(this.#deps.clock.now()) },
    };
  }

  async #owner(signal: AbortSignal): Promise<V1OwnerReference | undefined> {
    const { api, nodeName } = this.#deps;
    try {
      const node = await api.request<Node>({ method: 'GET', path: nodePath(nodeName) }, signal);
      return { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: node.metadata?.uid ?? '' };
    } catch (error) {
      signal.throwIfAborted();
      this.#deps.log.v(2, 'node lease written without an owner', { error });
      return undefined;
    }
  }

  #failed(error: unknown): void {
    const { log, tell } = this.#deps;
    tell.leaseTried({ error: errorText(error) });
    if (this.#faults.fault('lease')) log.warn('node lease failed, retrying', { error });
    else log.v(2, 'node lease failed again', { error });
  }

  #succeeded(): void {
    this.#deps.tell.leaseTried({ error: undefined });
    if (this.#faults.over('lease')) this.#deps.log.info('node lease renewed again');
  }
}
