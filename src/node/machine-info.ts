import type { MachineFacts } from '../base/machine-facts.ts';
import type { NodeStatus, ResourceList } from '../model/node.ts';
import { Quantity } from '../model/quantity.ts';
import { isExtendedResourceName } from '../model/validation/resources.ts';
import type { NodeEvent } from './node-event.ts';

export interface MachineInfoInput {
  readonly nodeName: string;
  /** Undefined: the machine could not be read. */
  readonly machine: MachineFacts | undefined;
  readonly maxPods: number;
  /** 0: no such limit. */
  readonly podsPerCore: number;
  /** What else the node has: its ephemeral storage. */
  readonly capacity: ResourceList;
  /** Kept from pods: for Kubernetes, for the system, and the hard eviction thresholds. */
  readonly reservation: ResourceList;
  readonly devices?: Devices | undefined;
}

interface Devices {
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  readonly removed: readonly string[];
}

export interface MachineInfoResult {
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  readonly ids:
    | { readonly machineID: string; readonly systemUUID: string; readonly bootID: string; readonly swap?: { readonly capacity: number } }
    | undefined;
  readonly events: readonly NodeEvent[];
}

type Quantities = Map<string, Quantity>;

export const hugePagesPrefix = 'hugepages-';

/** Capacity, allocatable and the machine's identity; resources that others advertise stay (pkg/kubelet/nodestatus/setters.go MachineInfo). */
export function machineInfo(status: NodeStatus, input: MachineInfoInput): MachineInfoResult {
  const { machine, maxPods, nodeName } = input;
  // A machine that cannot be read has none.
  const devices = machine && input.devices;
  const capacity = read(status.capacity);
  const events: NodeEvent[] = [];
  if (machine) {
    const { bootID = '' } = status.nodeInfo ?? {};
    // A machine that does not tell its boot has not been seen to boot.
    if (bootID !== '' && machine.bootId !== '' && bootID !== machine.bootId)
      events.push({ type: 'Warning', reason: 'Rebooted', message: `Node ${nodeName} has been rebooted, boot id: ${machine.bootId}` });
    setAll(capacity, machineCapacity(machine, input));
    for (const [name, text] of Object.entries(devices?.capacity ?? {})) capacity.set(name, Quantity.parse(text));
    // Zero tells a device that is gone from one that never was.
    for (const name of devices?.removed ?? []) capacity.set(name, Quantity.zero);
  } else {
    setAll(
      capacity,
      new Map([
        ['cpu', Quantity.zero],
        ['memory', Quantity.zero],
        ['pods', Quantity.of(maxPods)],
      ]),
    );
  }
  const ids = machine && {
    machineID: machine.machineId,
    systemUUID: machine.systemUuid,
    bootID: machine.bootId,
    ...(isShowable(machine.swapBytes) && { swap: { capacity: machine.swapBytes } }),
  };
  return {
    capacity: write(capacity),
    allocatable: write(allocatable(read(status.allocatable), capacity, { ...input, devices })),
    ids,
    events,
  };
}

/** A number that no machine has would keep the API server from taking the status. */
const isShowable = (bytes: number): boolean => bytes > 0 && Number.isSafeInteger(bytes);

function machineCapacity(machine: MachineFacts, { maxPods, podsPerCore, capacity }: MachineInfoInput): Quantities {
  const found: Quantities = new Map([
    ['cpu', Quantity.ofMilli(machine.cores * 1000)],
    ['memory', Quantity.of(machine.memoryBytes, 'BinarySI')],
    ['pods', Quantity.of(podsPerCore > 0 ? Math.min(machine.cores * podsPerCore, maxPods) : maxPods)],
  ]);
  for (const { pageSizeKiB, pages } of machine.hugePages) {
    const sizeBytes = pageSizeKiB * 1024;
    const name = `${hugePagesPrefix}${Quantity.of(sizeBytes, 'BinarySI').canonical()}`;
    found.set(name, Quantity.of(sizeBytes * pages, 'BinarySI'));
  }
  const storage = capacity['ephemeral-storage'];
  if (storage !== undefined) found.set('ephemeral-storage', Quantity.parse(storage));
  return found;
}

function allocatable(before: Quantities, capacity: Quantities, { reservation, devices }: MachineInfoInput): Quantities {
  const result = new Map([...before].filter(([name]) => capacity.has(name) || !isExtendedResourceName(name)));
  for (const [name, total] of capacity) {
    const reserved = reservation[name];
    result.set(name, reserved === undefined ? atLeastNothing(total) : atLeastNothing(total.sub(Quantity.parse(reserved))));
  }
  for (const [name, text] of Object.entries(devices?.allocatable ?? {})) result.set(name, Quantity.parse(text));
  // Memory set aside as huge pages can be had only as such.
  for (const [name, total] of capacity)
    if (name.startsWith(hugePagesPrefix)) result.set('memory', atLeastNothing((result.get('memory') ?? Quantity.zero).sub(total)));
  return result;
}

const atLeastNothing = (quantity: Quantity): Quantity => (quantity.sign() < 0 ? Quantity.of(0, quantity.format) : quantity);

const read = (list: ResourceList | undefined): Quantities =>
  new Map(Object.entries(list ?? {}).map(([name, text]) => [name, Quantity.fromJson(text)]));
const write = (list: Quantities): ResourceList => Object.fromEntries([...list].map(([name, quantity]) => [name, quantity.canonical()]));

function setAll(target: Quantities, values: Quantities): void {
  for (const [name, quantity] of values) target.set(name, quantity);
}
