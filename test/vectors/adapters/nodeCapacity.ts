import type { Node, ResourceList } from '../../../src/model/node.ts';
import { machineInfo } from '../../../src/node/machine-info.ts';

interface Input {
  readonly node?: Node;
  readonly machine?: {
    readonly numCores: number;
    readonly memoryCapacity: number;
    readonly machineID: string;
    readonly systemUUID: string;
    readonly bootID: string;
    readonly hugePages?: readonly { readonly pageSizeKiB: number; readonly numPages: number }[];
  };
  readonly maxPods: number;
  readonly podsPerCore: number;
  readonly capacity?: ResourceList;
  readonly reservation?: ResourceList;
  readonly deviceCapacity?: ResourceList;
  readonly deviceAllocatable?: ResourceList;
  readonly deviceRemoved?: readonly string[];
}

export function run({ node, machine, ...input }: Input): unknown {
  const status = node?.status ?? {};
  const { capacity, allocatable, ids, events } = machineInfo(status, {
    // The suite's cases name no node of their own.
    nodeName: node?.metadata?.name ?? 'n',
    machine: machine && {
      cores: machine.numCores,
      memoryBytes: machine.memoryCapacity,
      swapBytes: 0,
      machineId: machine.machineID,
      systemUuid: machine.systemUUID,
      bootId: machine.bootID,
      hugePages: (machine.hugePages ?? []).map(({ pageSizeKiB, numPages }) => ({ pageSizeKiB, pages: numPages })),
    },
    maxPods: input.maxPods,
    podsPerCore: input.podsPerCore,
    capacity: input.capacity ?? {},
    reservation: input.reservation ?? {},
    devices: { capacity: input.deviceCapacity ?? {}, allocatable: input.deviceAllocatable ?? {}, removed: input.deviceRemoved ?? [] },
  });
  const { machineID = '', systemUUID = '', bootID = '' } = ids ?? status.nodeInfo ?? {};
  return {
    capacity,
    allocatable,
    nodeInfo: { machineID, systemUUID, bootID },
    events: events.map(({ type, reason, message }) => `${type} ${reason} ${message}`),
  };
}
