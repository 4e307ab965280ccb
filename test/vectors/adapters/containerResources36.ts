import {
  containerLinuxResources,
  type LimitingNode,
  type LinuxResources,
  resourcesOfCgroup,
  sandboxLinuxResources,
} from '../../../src/model/linux-resources.ts';
import { oomScoreAdj } from '../../../src/model/oom-score.ts';
import type { Container, Pod } from '../../../src/model/pod.ts';
import { Quantity } from '../../../src/model/quantity.ts';

interface GivenNode {
  readonly cgroup: 1 | 2;
  readonly memoryCapacity: number;
  readonly swapCapacity: number;
  readonly allocatableMemory: string;
  readonly swapController: boolean;
  readonly swapBehavior: string;
  readonly cpuCFSQuota: boolean;
  readonly cpuCFSQuotaPeriodUs: number;
  readonly singleProcessOOMKill?: boolean;
  readonly memoryQoS: boolean;
  readonly memoryReservationPolicy: 'None' | 'TieredReservation';
  readonly memoryThrottlingFactor: number;
  readonly hugePageSizes: readonly string[];
}
type In =
  | { readonly op: 'container'; readonly pod: Pod; readonly container: string; readonly node: GivenNode }
  | { readonly op: 'oomScore'; readonly pod: Pod; readonly container: string; readonly memoryCapacity: number }
  | { readonly op: 'sandbox'; readonly pod: Pod; readonly node: GivenNode }
  | ({ readonly op: 'fromRuntime' } & Pick<LinuxResources, 'cpuShares' | 'cpuQuota' | 'cpuPeriod' | 'memoryLimit'>);

const nodeOf = ({
  allocatableMemory,
  cpuCFSQuota,
  cpuCFSQuotaPeriodUs,
  singleProcessOOMKill,
  memoryQoS,
  ...node
}: GivenNode): LimitingNode => ({
  ...node,
  allocatableMemory: Number(Quantity.parse(allocatableMemory).value()),
  cpuCfsQuota: cpuCFSQuota,
  cpuCfsQuotaPeriodUs: cpuCFSQuotaPeriodUs,
  singleProcessOomKill: singleProcessOOMKill,
  memoryQos: memoryQoS,
});

function containerOf({ spec }: Pod, name: string): Container {
  const container = [...(spec.initContainers ?? []), ...spec.containers].find((one) => one.name === name);
  if (!container) throw new Error(`no container ${name}`);
  return container;
}

/** 0 and nothing are not set; an OOM score is always there. */
function shown(resources: LinuxResources): object {
  const set = Object.entries(resources).filter(([name, value]) =>
    typeof value === 'object' ? Object.keys(value).length > 0 : name === 'oomScoreAdj' || value !== 0,
  );
  return Object.fromEntries(set);
}

export function run(input: In): unknown {
  switch (input.op) {
    case 'container':
      return shown(containerLinuxResources(input.pod, containerOf(input.pod, input.container), nodeOf(input.node)));
    case 'oomScore':
      return oomScoreAdj(input.pod, containerOf(input.pod, input.container), input.memoryCapacity);
    case 'sandbox': {
      const { resources, overhead } = sandboxLinuxResources(input.pod, nodeOf(input.node));
      return { resources: shown(resources), overhead: overhead ? shown(overhead) : { cpuShares: 0, oomScoreAdj: 0 } };
    }
    case 'fromRuntime': {
      const found = Object.entries(resourcesOfCgroup(input)).map(([name, amount]) => [name, amount.canonical()]);
      return found.length === 0 ? null : Object.fromEntries(found);
    }
    default:
      return input satisfies never;
  }
}
