import { hasPodLevelRequests, hasPodLevelResources, isPodLevelResource } from './pod-level-resources.ts';
import { isSidecar } from './pod-predicates.ts';
import type { Container, ContainerStatus, Pod } from './pod.ts';
import { Quantity, type QuantityFormat } from './quantity.ts';

/** By resource name, in the order in which the names were met. */
export type Quantities = ReadonlyMap<string, Quantity>;

type PodWithSpec = Pick<Pod, 'spec' | 'status'>;
type Amounts = Readonly<Record<string, string>> | undefined;
type Which = 'requests' | 'limits';

/** What counts of a pod; nothing set: the spec of the containers and of the pod, and the overhead. */
export interface PodResourcesOptions {
  /** What the status says is allocated or in use counts where it is more than the spec: a resize may be under way. */
  readonly useStatusResources?: boolean | undefined;
  /** The same for what the pod as a whole asks for. */
  readonly inPlacePodLevelResources?: boolean | undefined;
  readonly excludeOverhead?: boolean | undefined;
  readonly skipPodLevelResources?: boolean | undefined;
  /** Holds for requests only, as in Kubernetes. */
  readonly skipContainerLevelResources?: boolean | undefined;
  /** Called with each container's share in their order; an init container counts with the sidecars before it. */
  readonly onContainer?: ((kind: 'container' | 'init', share: Quantities) => void) | undefined;
}

/** What a pod asks for and may use altogether. Throws QuantityParseError. */
export function podRequestsAndLimits(pod: PodWithSpec): { readonly requests: Quantities; readonly limits: Quantities } {
  return { requests: podRequests(pod), limits: podLimits(pod) };
}

/**
 * What a pod asks for altogether: what its containers do; what the pod as a whole asks for takes the place of that; and its overhead. A sum
 * is written as its first amount (component-helpers/resource PodRequests). Throws QuantityParseError.
 */
export function podRequests(pod: PodWithSpec, options: PodResourcesOptions = {}): Quantities {
  const { resources, overhead } = pod.spec;
  const found = new Map(options.skipContainerLevelResources ? [] : containerTotal(pod, 'requests', options));
  if (!options.skipPodLevelResources && hasPodLevelRequests(resources))
    replace(found, resources?.requests, podLevel(pod, 'requests', options));
  if (!options.excludeOverhead) for (const [name, amount] of entries(overhead)) found.set(name, found.get(name)?.add(amount) ?? amount);
  return found;
}

/** As podRequests for limits, but that overhead is only added to limits other than zero (PodLimits). Throws QuantityParseError. */
export function podLimits(pod: PodWithSpec, options: PodResourcesOptions = {}): Quantities {
  const { resources, overhead } = pod.spec;
  const found = new Map(containerTotal(pod, 'limits', options));
  if (!options.skipPodLevelResources && hasPodLevelResources(pod)) replace(found, resources?.limits, podLevel(pod, 'limits', options));
  if (options.excludeOverhead) return found;
  for (const [name, amount] of entries(overhead)) {
    const limit = found.get(name);
    if (limit && !limit.isZero()) found.set(name, limit.add(amount));
  }
  return found;
}

/** Whether the last resize was refused for good: what the spec asks for is then no measure. */
function isResizeInfeasible({ status }: PodWithSpec): boolean {
  return status?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
}

/** What the pod as a whole has, while a resize of it may be under way; undefined: the spec counts. */
function podLevel(pod: PodWithSpec, which: Which, options: PodResourcesOptions): Quantities | undefined {
  const actual = pod.status?.resources;
  if (!options.useStatusResources || !options.inPlacePodLevelResources || !actual) return undefined;
  return inUse(pod, pod.spec.resources?.[which], actual[which], which === 'requests' ? pod.status?.allocatedResources : undefined);
}

function replace(found: Map<string, Quantity>, spec: Amounts, effective: Quantities | undefined): void {
  for (const [name, amount] of entries(spec)) {
    if (isPodLevelResource(name)) found.set(name, effective === undefined ? amount : (effective.get(name) ?? Quantity.zero));
  }
}

/** The most of what is asked for, in use and allocated. */
function inUse(pod: PodWithSpec, spec: Amounts, actual: Amounts, allocated: Amounts): Quantities {
  return most([...(isResizeInfeasible(pod) ? [] : [spec]), actual, allocated].map(entries));
}

/** What the containers ask for or may use together (AggregateContainerRequests, AggregateContainerLimits). Throws QuantityParseError. */
export function containerTotal(pod: PodWithSpec, which: Which, options: PodResourcesOptions = {}): Quantities {
  const { containers, initContainers = [] } = pod.spec;
  const { onContainer } = options;
  const statuses = new Map<string, ContainerStatus>();
  if (options.useStatusResources) {
    for (const one of [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]) statuses.set(one.name, one);
  }
  const own = (container: Container, mayResize: boolean): readonly Amount[] => {
    const spec = container.resources?.[which];
    const status = mayResize ? statuses.get(container.name) : undefined;
    if (!status?.resources) return entries(spec);
    return [...inUse(pod, spec, status.resources[which], which === 'requests' ? status.allocatedResources : undefined)];
  };
  const running = containers.map((container) => {
    const amounts = own(container, true);
    onContainer?.('container', new Map(amounts));
    return amounts;
  });
  const sidecars: (readonly Amount[])[] = [];
  const starting = initContainers.map((container) => {
    const sidecar = isSidecar(container);
    const amounts = own(container, sidecar);
    if (sidecar) sidecars.push(amounts);
    const share = sum(sidecar ? sidecars : [amounts, ...sidecars]);
    onContainer?.('init', share);
    return [...share];
  });
  return most([[...sum([...running, ...sidecars])], ...starting]);
}

type Amount = readonly [name: string, amount: Quantity];

function sum(lists: readonly (readonly Amount[])[]): Map<string, Quantity> {
  const total = new Map<string, Quantity>();
  for (const [name, amount] of lists.flat()) total.set(name, total.get(name)?.add(amount) ?? amount);
  return total;
}

/** Of equal amounts the first is kept. */
function most(lists: readonly (readonly Amount[])[]): Map<string, Quantity> {
  const found = new Map<string, Quantity>();
  for (const [name, amount] of lists.flat()) {
    const before = found.get(name);
    if (!before || amount.cmp(before) > 0) found.set(name, amount);
  }
  return found;
}

const binary: ReadonlySet<string> = new Set(['memory', 'storage', 'ephemeral-storage']);

/**
 * How much of one resource a pod asks for: millicores of cpu, else whole units; a pod is one of `pods`. Its overhead counts only where
 * it asks for anything (pkg/api/v1/resource GetResourceRequest). Where the pod as a whole asks for anything only that counts, as there. Throws QuantityParseError.
 */
export function podResourceRequest({ spec }: PodWithSpec, name: string): bigint {
  if (name === 'pods') return 1n;
  const format: QuantityFormat = binary.has(name) ? 'BinarySI' : 'DecimalSI';
  const amountIn = ({ resources }: Container): Quantity => amountOf(resources?.requests, name) ?? Quantity.zero;
  let total = spec.containers.reduce((sum, container) => sum.add(amountIn(container)), Quantity.of(0, format));
  let beside = Quantity.zero;
  const starting: Quantity[] = [];
  for (const container of spec.initContainers ?? []) {
    if (isSidecar(container)) beside = beside.add(amountIn(container));
    else starting.push(amountIn(container).add(beside));
  }
  total = starting.reduce((most, amount) => (amount.cmp(most) > 0 ? amount : most), total.add(beside));
  if (hasPodLevelRequests(spec.resources)) total = amountOf(spec.resources?.requests, name) ?? Quantity.of(0, format);
  const overhead = amountOf(spec.overhead, name);
  if (overhead && !total.isZero()) total = total.add(overhead);
  return name === 'cpu' ? total.milliValue() : total.value();
}

function entries(amounts: Amounts): Amount[] {
  return Object.entries(amounts ?? {}).map(([name, text]) => [name, Quantity.fromJson(text)] as const);
}

function amountOf(amounts: Amounts, name: string): Quantity | undefined {
  return amounts && Object.hasOwn(amounts, name) ? Quantity.fromJson(amounts[name]) : undefined;
}
