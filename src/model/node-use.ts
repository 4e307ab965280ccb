import type { V1ContainerPort } from '@kubernetes/client-node';
import { sidecarsOf } from './pod-predicates.ts';
import { type Amounts, podRequest } from './pod-request.ts';
import type { Pod, PodUid } from './pod.ts';
import type { Wire } from './wire.ts';

/** The port of the node's that a container wants, as the scheduler compares them. */
type HostPort = Required<Pick<Wire<V1ContainerPort>, 'hostIP' | 'hostPort' | 'protocol'>>;

const ANY_ADDRESS = '0.0.0.0';

/**
 * What pods have of a node together: kept as they come and go, so that to ask costs the same however many they are.
 *
 * INVARIANT: the sums are those of the pods within, each of which is counted once.
 */
export class NodeUse {
  readonly #pods = new Map<PodUid, { readonly pod: Pod; readonly request: Amounts; readonly ports: readonly HostPort[] }>();
  readonly #used = new Map<string, bigint>();
  /** By port and protocol: how many pods want it of each address. */
  readonly #ports = new Map<string, Map<string, number>>();

  constructor(pods: Iterable<Pod> = []) {
    for (const pod of pods) this.add(pod);
  }

  get size(): number {
    return this.#pods.size;
  }

  has(uid: PodUid): boolean {
    return this.#pods.has(uid);
  }

  get uids(): Iterable<PodUid> {
    return this.#pods.keys();
  }

  get pods(): readonly Pod[] {
    return [...this.#pods.values()].map(({ pod }) => pod);
  }

  /** Millicores of cpu, else whole units. */
  usedOf(resource: string): bigint {
    return this.#used.get(resource) ?? 0n;
  }

  /** Whether one of them has a port of the node's that this one wants. */
  collidesWith(pod: Pod): boolean {
    return hostPorts(pod).some((port) => {
      const taken = this.#ports.get(keyOf(port));
      if (taken === undefined) return false;
      return port.hostIP === ANY_ADDRESS || taken.has(port.hostIP) || taken.has(ANY_ADDRESS);
    });
  }

  add(pod: Pod): void {
    const { uid } = pod.metadata;
    this.remove(uid);
    const own = { pod, request: podRequest(pod, () => true), ports: hostPorts(pod) };
    this.#pods.set(uid, own);
    for (const [name, amount] of own.request) this.#used.set(name, this.usedOf(name) + amount);
    for (const port of own.ports) {
      const taken = this.#ports.get(keyOf(port)) ?? new Map<string, number>();
      this.#ports.set(keyOf(port), taken.set(port.hostIP, (taken.get(port.hostIP) ?? 0) + 1));
    }
  }

  remove(uid: PodUid): void {
    const own = this.#pods.get(uid);
    if (!own) return;
    this.#pods.delete(uid);
    for (const [name, amount] of own.request) this.#used.set(name, this.usedOf(name) - amount);
    for (const port of own.ports) {
      const taken = this.#ports.get(keyOf(port));
      const left = (taken?.get(port.hostIP) ?? 0) - 1;
      if (left > 0) taken?.set(port.hostIP, left);
      else taken?.delete(port.hostIP);
      if (taken?.size === 0) this.#ports.delete(keyOf(port));
    }
  }
}

const keyOf = ({ hostPort, protocol }: HostPort): string => `${hostPort}/${protocol}`;

function hostPorts({ spec }: Pod): readonly HostPort[] {
  return [...spec.containers, ...sidecarsOf(spec)]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0)
    .map(({ hostIP, hostPort = 0, protocol }) => ({ hostIP: hostIP || ANY_ADDRESS, hostPort, protocol: protocol || 'TCP' }));
}
