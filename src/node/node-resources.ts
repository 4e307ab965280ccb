import type { Node, ResourceList } from '../model/node.ts';
import { Quantity } from '../model/quantity.ts';
import type { NodeResources, ProvidedResources } from '../ports/this-node.ts';

/** What a machine has for pods, less what is reserved, and with what others provide. */
export type MachineResources = (
  reserved: ResourceList,
  provided: ProvidedResources,
) => Required<Pick<NonNullable<Node['status']>, ListName>>;
type ListName = 'capacity' | 'allocatable';

export interface NodeResourcesDeps {
  /** Undefined: the machine could not be read. A function of its arguments and of `settings` alone. */
  readonly ofMachine: MachineResources | undefined;
  /** What else `ofMachine` goes by, now. */
  readonly settings?: () => unknown;
  /** As the API server shows it; undefined while it is not known. */
  readonly shown: () => Node | undefined;
}

/** The node's resources and who has a say in them. Without a machine that can be read, and before the API server shows the node, it has none. */
export function nodeResources({ ofMachine, settings, shown }: NodeResourcesDeps): NodeResources {
  const reservations = new Map<string, ResourceList>();
  const providers: { readonly more: () => ResourceList; readonly unusable: () => ResourceList }[] = [];
  // A name once provided stays, with zero: that tells a device that has gone from one that never was.
  const seen = new Set<string>();
  const reserved = (): ResourceList => sumOf([...reservations.values()]);
  const provided = (): ProvidedResources => {
    const now = sumOf(providers.map(({ more }) => more()));
    for (const name of Object.keys(now)) seen.add(name);
    const capacity = Object.fromEntries([...seen].map((name) => [name, now[name] ?? '0']));
    const unusable = sumOf(providers.map((each) => each.unusable()));
    const allocatable = Object.fromEntries(Object.entries(capacity).map(([name, text]) => [name, less(text, unusable[name] ?? '0')]));
    return { capacity, allocatable };
  };
  // Asked for with each pod, and nearly always the same.
  let last: { readonly of: string; readonly lists: ReturnType<MachineResources> } | undefined;
  const machine = (compute: MachineResources): ReturnType<MachineResources> => {
    const parts = [reserved(), provided()] as const;
    const of = JSON.stringify([parts, settings?.()]);
    if (last?.of !== of) last = { of, lists: compute(...parts) };
    return last.lists;
  };
  const list = (name: ListName): ResourceList => shown()?.status?.[name] ?? (ofMachine && machine(ofMachine)[name]) ?? {};
  return {
    capacity: () => list('capacity'),
    allocatable: () => list('allocatable'),
    reserve: (name, amounts) => reservations.set(name, amounts),
    reserved,
    provide: (more, unusable = () => ({})) => providers.push({ more, unusable }),
    provided,
  };
}

function less(total: string, part: string): string {
  const left = Quantity.parse(total).sub(Quantity.parse(part));
  return left.sign() < 0 ? '0' : left.canonical();
}

function sumOf(lists: readonly ResourceList[]): ResourceList {
  const sums = new Map<string, Quantity>();
  for (const [name, text] of lists.flatMap((list) => Object.entries(list)))
    sums.set(name, (sums.get(name) ?? Quantity.zero).add(Quantity.parse(text)));
  return Object.fromEntries([...sums].map(([name, quantity]) => [name, quantity.canonical()]));
}
