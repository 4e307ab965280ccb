import { isSidecar } from './pod-predicates.ts';
import type { Container, Pod } from './pod.ts';
import { Quantity, type QuantityFormat } from './quantity.ts';

/** By resource name, in the order in which the names were met. */
export type Quantities = ReadonlyMap<string, Quantity>;

type PodWithSpec = Pick<Pod, 'spec'>;
type Amounts = Readonly<Record<string, string>> | undefined;

/**
 * What a pod asks for and may use altogether: the sum of its containers and sidecars, no less than any init container beside the sidecars
 * before it, plus its overhead; to limits only where they are not zero (pkg/api/v1/resource PodRequestsAndLimits). A sum is written as its first amount. Throws QuantityParseError.
 */
export function podRequestsAndLimits({ spec }: PodWithSpec): { readonly requests: Quantities; readonly limits: Quantities } {
  const requests = overall(spec.containers, spec.initContainers ?? [], 'requests');
  const limits = overall(spec.containers, spec.initContainers ?? [], 'limits');
  for (const [name, amount] of entries(spec.overhead)) {
    requests.set(name, requests.get(name)?.add(amount) ?? amount);
    const limit = limits.get(name);
    if (limit && !limit.isZero()) limits.set(name, limit.add(amount));
  }
  return { requests, limits };
}

function overall(
  containers: readonly Container[],
  initContainers: readonly Container[],
  which: 'requests' | 'limits',
): Map<string, Quantity> {
  const running = containers.map(({ resources }) => entries(resources?.[which]));
  const sidecars: (readonly Amount[])[] = [];
  const starting = initContainers.flatMap((container) => {
    const own = entries(container.resources?.[which]);
    if (isSidecar(container)) {
      sidecars.push(own);
      return [];
    }
    return [sum([own, ...sidecars])];
  });
  const found = sum([...running, ...sidecars]);
  for (const [name, amount] of starting.flatMap((one) => [...one])) {
    const others = found.get(name);
    if (!others || amount.cmp(others) > 0) found.set(name, amount);
  }
  return found;
}

type Amount = readonly [name: string, amount: Quantity];

function sum(lists: readonly (readonly Amount[])[]): Map<string, Quantity> {
  const total = new Map<string, Quantity>();
  for (const [name, amount] of lists.flat()) total.set(name, total.get(name)?.add(amount) ?? amount);
  return total;
}

const binary: ReadonlySet<string> = new Set(['memory', 'storage', 'ephemeral-storage']);

/**
 * How much of one resource a pod asks for: millicores of cpu, else whole units; a pod is one of `pods`. Its overhead counts only where
 * it asks for anything (pkg/api/v1/resource GetResourceRequest). Throws QuantityParseError.
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
