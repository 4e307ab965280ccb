import { curvedCpuWeight, linearCpuWeight, sharesOfLinearCpuWeight } from '../../../src/model/cpu-weight.ts';
import { milliCpuToQuota, milliCpuToShares, quotaToMilliCpu, sharesToMilliCpu } from '../../../src/model/cpu-time.ts';
import { evictionReservation } from '../../../src/model/eviction-reservation.ts';
import { parseThresholds } from '../../../src/model/eviction/parse-thresholds.ts';
import { absoluteAllocatable, allocatableReservation, nodeResourceConfig, reservationFaults } from '../../../src/model/node-allocatable.ts';
import type { ResourceList } from '../../../src/model/node.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { qosResourceConfigs, qosShare } from '../../../src/model/qos-resource-configs.ts';
import { Quantity } from '../../../src/model/quantity.ts';
import { type MemoryReservationPolicy, type ResourceConfig, resourceConfigForPod } from '../../../src/model/resource-config.ts';
import * as names from './cgroupName.ts';

type In =
  | Exclude<names.Input, { readonly op: 'podSuffix' }>
  | { readonly op: 'podSuffix'; readonly uid: string }
  | { readonly op: 'shares'; readonly milliCPU: number }
  | { readonly op: 'quota'; readonly milliCPU: number; readonly period: number }
  | { readonly op: 'weight' | 'sharesToMilli'; readonly shares: number }
  | { readonly op: 'quotaToMilli'; readonly quota: number; readonly period: number }
  | {
      readonly op: 'podConfig';
      readonly pod: Pod;
      readonly cpuPeriod: number;
      readonly enforceCPULimits: boolean;
      readonly memoryQoS: boolean;
      readonly memoryReservationPolicy: MemoryReservationPolicy;
    }
  | {
      readonly op: 'qosConfig';
      readonly pods?: readonly Pod[];
      readonly memoryQoS?: boolean;
      readonly policy: MemoryReservationPolicy;
      readonly memoryReserve?: number;
      readonly allocatable?: string;
    }
  | { readonly op: 'nodeConfig'; readonly list: ResourceList; readonly compressibleOnly: boolean }
  | {
      readonly op: 'allocatable';
      readonly capacity: ResourceList;
      readonly systemReserved: ResourceList;
      readonly kubeReserved: ResourceList;
      readonly hardEviction: readonly { readonly signal: string; readonly value: string }[];
    };

export function run(input: In): unknown {
  switch (input.op) {
    case 'shares':
      return milliCpuToShares(BigInt(input.milliCPU));
    case 'quota':
      return milliCpuToQuota(BigInt(input.milliCPU), input.period, true);
    case 'weight': {
      const kubelet = linearCpuWeight(input.shares);
      return { kubelet, runtime: curvedCpuWeight(input.shares), toShares: sharesOfLinearCpuWeight(kubelet) };
    }
    case 'sharesToMilli':
      return sharesToMilliCpu(input.shares);
    case 'quotaToMilli':
      return quotaToMilliCpu(input.quota, input.period);
    case 'podConfig':
      return shown(
        resourceConfigForPod(input.pod, {
          periodUs: input.cpuPeriod,
          enforceCpuLimits: input.enforceCPULimits,
          customPeriod: true,
          memoryQos: input.memoryQoS ? input.memoryReservationPolicy : undefined,
        }),
      );
    case 'qosConfig': {
      const configs = qosResourceConfigs((input.pods ?? []).map(qosShare), {
        memoryQos: input.memoryQoS === true ? input.policy : undefined,
        memoryReserve: input.memoryReserve,
        allocatableMemory: input.allocatable === undefined ? undefined : Number(Quantity.parse(input.allocatable).value()),
      });
      return Object.fromEntries(Object.entries(configs).map(([qos, config]) => [qos, shown(config)]));
    }
    case 'nodeConfig':
      return shown(nodeResourceConfig(input.list, input.compressibleOnly));
    case 'allocatable': {
      const { capacity, systemReserved: system, kubeReserved: kube } = input;
      const evictionHard = Object.fromEntries(input.hardEviction.map(({ signal, value }) => [signal, value]));
      const soft = { evictionSoft: {}, evictionSoftGracePeriod: {}, evictionMinimumReclaim: {}, enforceNodeAllocatable: [] };
      const { thresholds } = parseThresholds({ ...soft, evictionHard });
      const reserved = { system, kube, eviction: evictionReservation(thresholds, capacity) };
      const [fault] = reservationFaults(capacity, reserved);
      return {
        absolute: absoluteAllocatable(capacity, reserved),
        reservation: allocatableReservation(capacity, reserved),
        ...(fault && {
          invalid: `invalid Node Allocatable configuration. Resource ${JSON.stringify(fault.name)} has a reservation of ${goStruct(fault.reserved, '')} but capacity of ${goStruct(fault.capacity, fault.capacity)}. Expected capacity >= reservation.`,
        }),
      };
    }
    case 'names':
    case 'strings':
    case 'new':
    case 'parseSystemd':
    case 'parseCgroupfs':
    case 'isSystemdStyle':
    case 'nodeAllocatableRoot':
    case 'pod':
    case 'isPodCgroup':
    case 'podSuffix':
      return names.run(input);
    default:
      return input satisfies never;
  }
}

/** As the vectors have it: 2^53 and more are strings, what is empty is not set. */
function shown({ hugePageLimit, unified, ...config }: ResourceConfig): object {
  return {
    ...config,
    ...(config.cpuShares !== undefined && { cpuWeight: linearCpuWeight(config.cpuShares) }),
    ...(hugePageLimit && hugePageLimit.size > 0 && { hugePageLimit: Object.fromEntries(hugePageLimit) }),
    ...(unified && Object.keys(unified).length > 0 && { unified }),
  };
}

/** A quantity's fields as Go prints a struct. */
function goStruct(text: string, cached: string): string {
  const quantity = Quantity.parse(text);
  const milli = text.endsWith('m');
  return `{{${milli ? quantity.milliValue() : quantity.value()} ${milli ? -3 : 0}} {<nil>} ${cached} ${quantity.format}}`;
}
