import { cpuSetFault, parseCpuSet } from '../model/cpu-set.ts';
import type { ResourceList } from '../model/node.ts';
import { Quantity } from '../model/quantity.ts';
import { errorText } from '../base/error-text.ts';

export interface ReservationSettings {
  readonly kubeReserved: Readonly<Record<string, string>>;
  readonly systemReserved: Readonly<Record<string, string>>;
  readonly reservedSystemCpus: string;
  readonly qosReserved: Readonly<Record<string, string>>;
}

const reservable: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage', 'pid']);

/** What is kept from pods, by who it is for. CPUs that are reserved by their numbers take the place of amounts (cmd/kubelet/app/server.go run). */
export function reservedResources(settings: Omit<ReservationSettings, 'qosReserved'>): {
  readonly kube: ResourceList;
  readonly system: ResourceList;
} {
  const { kubeReserved: kube, systemReserved: system, reservedSystemCpus } = settings;
  if (reservedSystemCpus === '') return { kube, system };
  const { cpu: _, ...kubeWithoutCpu } = kube;
  return { kube: kubeWithoutCpu, system: { ...system, cpu: String(parseCpuSet(reservedSystemCpus).size) } };
}

/** Of what a class asks for, how much is kept from the classes below it, in percent; undefined: nothing is said of memory. */
export function memoryReserve({ qosReserved }: Pick<ReservationSettings, 'qosReserved'>): number | undefined {
  const text = qosReserved['memory'];
  return text === undefined ? undefined : Number(text.slice(0, -1));
}

/** What cannot be reserved, in the kubelet's words (parseResourceList in cmd/kubelet/app/server.go, ParseQOSReserved in pkg/kubelet/cm). */
export function reservationProblems({
  kubeReserved,
  systemReserved,
  reservedSystemCpus,
  qosReserved,
}: ReservationSettings): readonly string[] {
  const amounts = [
    ['kubeReserved (--kube-reserved)', kubeReserved],
    ['systemReserved (--system-reserved)', systemReserved],
  ] as const;
  return [
    ...amounts.flatMap(([setting, list]) =>
      Object.entries(list).flatMap(([name, text]) => {
        const fault = amountFault(name, text);
        return fault === undefined ? [] : [`invalid configuration: ${setting}: ${fault}`];
      }),
    ),
    ...Object.entries(qosReserved).flatMap(([name, text]) => {
      const fault = name === 'memory' ? percentageFault(text) : `cannot reserve ${JSON.stringify(name)} resource`;
      return fault === undefined ? [] : [`invalid configuration: qosReserved (--qos-reserved): ${fault}`];
    }),
    ...cpuProblems(reservedSystemCpus),
  ];
}

/** What is no list of CPUs is said by the kubelet's rules; how many it names is not asked there. */
function cpuProblems(text: string): readonly string[] {
  if (cpuSetFault(text) !== undefined) return [];
  try {
    parseCpuSet(text);
    return [];
  } catch (error) {
    return [`invalid configuration: reservedSystemCPUs (--reserved-cpus): ${errorText(error)}`];
  }
}

function amountFault(name: string, text: string): string | undefined {
  if (!reservable.has(name)) return `cannot reserve ${JSON.stringify(name)} resource`;
  try {
    if (Quantity.parse(text).sign() < 0) return `resource quantity for ${JSON.stringify(name)} cannot be negative: ${text}`;
  } catch (error) {
    return `failed to parse quantity ${JSON.stringify(text)} for ${JSON.stringify(name)} resource: ${errorText(error)}`;
  }
  return undefined;
}

function percentageFault(text: string): string | undefined {
  const failed = `failed to parse percentage ${JSON.stringify(text)} for "memory" resource: `;
  if (!text.endsWith('%')) return `${failed}percentage expected, got '${text}'`;
  if (!/^[+-]?\d+%$/.test(text)) return `${failed}invalid number in percentage '${text}'`;
  const percent = Number(text.slice(0, -1));
  return percent < 0 || percent > 100 ? `${failed}percentage must be between 0 and 100` : undefined;
}
