import { exposition, type MetricFamily, type MetricSample } from '../base/exposition.ts';
import { SANDBOX_NAME } from '../model/sandbox-name.ts';
import type {
  ContainerUsage,
  CpuStats,
  DiskStats,
  MemoryStats,
  NetworkInterfaceStats,
  NodeUsage,
  PodUsage,
  PressureShare,
} from '../ports/pod-stats.ts';

/** What the machine is, for the machine_ metrics. */
export interface CadvisorMachine {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
}

export interface CadvisorInput {
  readonly nowMs: number;
  readonly machine?: CadvisorMachine;
  readonly versions?: { readonly kernel: string; readonly os: string; readonly engine: string; readonly agent: string };
  /** Undefined: it could not be measured, which is reported as well. */
  readonly usage: { readonly node: NodeUsage; readonly pods: readonly PodUsage[] } | undefined;
}

type Labels = MetricSample['labels'];
type Shares = Readonly<Record<'some' | 'full', PressureShare>>;
/** Everything that cAdvisor would call a container: the root, pods' cgroups, sandboxes, containers. */
interface Row extends Omit<ContainerUsage, 'id' | 'name'> {
  readonly labels: Labels;
  readonly interfaces?: readonly NetworkInterfaceStats[];
  readonly networkAtMs?: number;
}

/** What /metrics/cadvisor answers: cAdvisor's names, with the labels that the kubelet gives them (pkg/kubelet/server/server.go containerPrometheusLabelsFunc). */
export function cadvisorMetrics({ nowMs, machine, versions, usage }: CadvisorInput): string {
  const rows = usage ? [rootRow(usage.node), ...usage.pods.flatMap(podRows)] : [];
  const failed = usage ? 0 : 1;
  return exposition([
    ...containerFamilies(rows, nowMs),
    ...(machine ? machineFamilies(machine) : []),
    gauge('container_scrape_error', '1 if there was an error while getting container metrics, 0 otherwise', [
      { labels: {}, value: failed },
    ]),
    gauge('machine_scrape_error', '1 if there was an error while getting machine metrics, 0 otherwise.', [
      { labels: {}, value: machine ? 0 : 1 },
    ]),
    gauge(
      'cadvisor_version_info',
      "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor version & cadvisor revision.",
      versions
        ? [
            {
              labels: {
                kernelVersion: versions.kernel,
                osVersion: versions.os,
                dockerVersion: versions.engine,
                cadvisorVersion: versions.agent,
                cadvisorRevision: '',
              },
              value: 1,
            },
          ]
        : [],
    ),
  ]);
}

const blank = { container: '', id: '', image: '', name: '', namespace: '', pod: '' };

function rootRow({ startedAtMs, cpu, memory, network, fs, pressure, disks }: NodeUsage): Row {
  return {
    labels: { ...blank, id: '/' },
    startedAtMs,
    ...(cpu ? { cpu } : {}),
    ...(memory ? { memory } : {}),
    ...(fs ? { rootfs: fs } : {}),
    ...(pressure ? { pressure } : {}),
    ...(disks ? { disks } : {}),
    ...(network ? { interfaces: network.interfaces, networkAtMs: network.atMs } : {}),
  };
}

function podRows(pod: PodUsage): Row[] {
  const { name, namespace, cgroup, cpu, memory, pressure, startedAtMs, containers, sandbox, network } = pod;
  const rowOf = (container: ContainerUsage, label: string): Row => {
    const { cgroup: id = '', engineName = '', image = '' } = container;
    return { ...container, labels: { container: label, id, image, name: engineName, namespace, pod: name } };
  };
  const own: Row[] =
    cgroup === undefined
      ? []
      : [
          {
            labels: { ...blank, id: cgroup, namespace, pod: name },
            startedAtMs,
            ...(cpu ? { cpu } : {}),
            ...(memory ? { memory } : {}),
            ...(pressure ? { pressure } : {}),
          },
        ];
  const pause: Row[] = sandbox
    ? [{ ...rowOf(sandbox, SANDBOX_NAME), ...(network ? { interfaces: network.interfaces, networkAtMs: network.atMs } : {}) }]
    : [];
  return [...own, ...pause, ...containers.map((container) => rowOf(container, container.name))];
}

function gauge(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, help, type: 'gauge', samples };
}

function containerFamilies(rows: readonly Row[], nowMs: number): MetricFamily[] {
  const cpu = (name: string, help: string, of: (cpu: CpuStats) => number | undefined, extra: Labels = {}): MetricFamily => ({
    name: `container_cpu_${name}`,
    help,
    type: 'counter',
    samples: rows.flatMap(({ labels, cpu }) => sample({ ...labels, ...extra }, cpu && of(cpu), cpu?.atMs)),
  });
  const memory = (
    name: string,
    help: string,
    of: (memory: MemoryStats) => number | undefined,
    type: MetricFamily['type'] = 'gauge',
  ): MetricFamily => ({
    name: `container_memory_${name}`,
    help,
    type,
    samples: rows.flatMap(({ labels, memory }) => sample(labels, memory && of(memory), memory?.atMs)),
  });
  const network = (name: string, help: string, of: (stats: NetworkInterfaceStats) => number): MetricFamily => ({
    name: `container_network_${name}_total`,
    help: `Cumulative count of ${help}`,
    type: 'counter',
    samples: rows.flatMap(({ labels, interfaces = [], networkAtMs }) =>
      interfaces.flatMap((each) => sample({ ...labels, interface: each.name }, of(each), networkAtMs)),
    ),
  });
  const plain = (name: string, help: string, of: (row: Row) => number | undefined): MetricFamily =>
    gauge(
      `container_${name}`,
      help,
      rows.flatMap((row) => sample(row.labels, of(row))),
    );
  const file = (name: string, help: string, of: (stats: NonNullable<Row['rootfs']>) => number | undefined): MetricFamily =>
    gauge(
      `container_fs_${name}`,
      help,
      rows.flatMap(({ labels, rootfs }) => sample({ ...labels, device: rootfs?.device ?? '' }, rootfs && of(rootfs))),
    );
  const disk = (name: string, help: string, of: (disk: DiskStats) => number): MetricFamily => ({
    name: `container_fs_${name}_total`,
    help: `Cumulative count of ${help}`,
    type: 'counter',
    samples: rows.flatMap(({ labels, disks = [] }) => disks.flatMap((each) => sample({ ...labels, device: each.device }, of(each)))),
  });
  const pressure = (of: 'cpu' | 'memory' | 'io', called: string): MetricFamily[] => {
    const family = (name: 'stalled' | 'waiting', who: string, share: (pressure: Shares) => PressureShare): MetricFamily => ({
      name: `container_pressure_${of}_${name}_seconds_total`,
      help: `Total time duration ${who} due to ${called} congestion.`,
      type: 'counter',
      samples: rows.flatMap(({ labels, pressure: all }) => {
        const found = all?.[of];
        return sample(labels, found && share(found).totalUs / 1e6, all?.atMs);
      }),
    });
    return [
      family('stalled', 'no tasks in the container could make progress', ({ full }) => full),
      family('waiting', 'tasks in the container have waited', ({ some }) => some),
    ];
  };
  const seconds = (ns: number | undefined): number | undefined => (ns === undefined ? undefined : ns / 1e9);
  return [
    gauge(
      'container_last_seen',
      'Last time a container was seen by the exporter',
      rows.map(({ labels }) => ({ labels, value: Math.floor(nowMs / 1000), atMs: nowMs })),
    ),
    plain('start_time_seconds', 'Start time of the container since unix epoch in seconds.', ({ startedAtMs }) =>
      Math.floor(startedAtMs / 1000),
    ),
    cpu('usage_seconds_total', 'Cumulative cpu time consumed in seconds.', (use) => seconds(use.usageCoreNanoSeconds), { cpu: 'total' }),
    cpu('user_seconds_total', 'Cumulative user cpu time consumed in seconds.', (use) => seconds(use.userNanoSeconds)),
    cpu('system_seconds_total', 'Cumulative system cpu time consumed in seconds.', (use) => seconds(use.systemNanoSeconds)),
    cpu('cfs_periods_total', 'Number of elapsed enforcement period intervals.', ({ throttling }) => throttling?.periods),
    cpu('cfs_throttled_periods_total', 'Number of throttled period intervals.', ({ throttling }) => throttling?.throttledPeriods),
    cpu('cfs_throttled_seconds_total', 'Total time duration the container has been throttled.', ({ throttling }) =>
      seconds(throttling?.throttledNanoSeconds),
    ),
    memory('cache', 'Number of bytes of page cache memory.', ({ cacheBytes }) => cacheBytes),
    memory('rss', 'Size of RSS in bytes.', ({ rssBytes }) => rssBytes),
    memory('mapped_file', 'Size of memory mapped files in bytes.', ({ mappedFileBytes }) => mappedFileBytes),
    memory('swap', 'Container swap usage in bytes.', ({ swapBytes }) => swapBytes),
    memory('failcnt', 'Number of memory usage hits limits', ({ limitHits }) => limitHits, 'counter'),
    memory(
      'usage_bytes',
      'Current memory usage in bytes, including all memory regardless of when it was accessed',
      ({ usageBytes }) => usageBytes,
    ),
    memory('max_usage_bytes', 'Maximum memory usage recorded in bytes', ({ maxUsageBytes }) => maxUsageBytes),
    {
      name: 'container_oom_events_total',
      help: 'Count of out of memory events observed for the container',
      type: 'counter',
      samples: rows.flatMap(({ labels, memory }) => sample(labels, memory?.oomKills, memory?.atMs)),
    },
    memory('working_set_bytes', 'Current working set in bytes.', ({ workingSetBytes }) => workingSetBytes),
    {
      name: 'container_memory_failures_total',
      help: 'Cumulative count of memory allocation failures.',
      type: 'counter',
      samples: rows.flatMap(({ labels, memory: held }) =>
        ['container', 'hierarchy'].flatMap((scope) => [
          ...sample({ ...labels, failure_type: 'pgfault', scope }, held?.pageFaults, held?.atMs),
          ...sample({ ...labels, failure_type: 'pgmajfault', scope }, held?.majorPageFaults, held?.atMs),
        ]),
      ),
    },
    file('inodes_free', 'Number of available Inodes', ({ inodesFree }) => inodesFree),
    file('inodes_total', 'Number of Inodes', ({ inodes }) => inodes),
    file('limit_bytes', 'Number of bytes that can be consumed by the container on this filesystem.', ({ capacityBytes }) => capacityBytes),
    file('usage_bytes', 'Number of bytes that are consumed by the container on this filesystem.', ({ usedBytes }) => usedBytes),
    disk('reads_bytes', 'bytes read', ({ readBytes }) => readBytes),
    disk('reads', 'reads completed', ({ reads }) => reads),
    disk('writes_bytes', 'bytes written', ({ writtenBytes }) => writtenBytes),
    disk('writes', 'writes completed', ({ writes }) => writes),
    ...pressure('cpu', 'CPU'),
    ...pressure('memory', 'memory'),
    ...pressure('io', 'IO'),
    network('receive_bytes', 'bytes received', ({ rxBytes }) => rxBytes),
    network('receive_packets', 'packets received', ({ rxPackets }) => rxPackets),
    network('receive_packets_dropped', 'packets dropped while receiving', ({ rxDropped }) => rxDropped),
    network('receive_errors', 'errors encountered while receiving', ({ rxErrors }) => rxErrors),
    network('transmit_bytes', 'bytes transmitted', ({ txBytes }) => txBytes),
    network('transmit_packets', 'packets transmitted', ({ txPackets }) => txPackets),
    network('transmit_packets_dropped', 'packets dropped while transmitting', ({ txDropped }) => txDropped),
    network('transmit_errors', 'errors encountered while transmitting', ({ txErrors }) => txErrors),
    plain('processes', 'Number of processes running inside the container.', ({ processes }) => processes),
    plain('threads', 'Number of threads running inside the container', ({ threads }) => threads),
    plain('spec_cpu_period', 'CPU period of the container.', ({ limits }) => limits?.cpuPeriodUs),
    plain('spec_cpu_quota', 'CPU quota of the container.', ({ limits }) => limits?.cpuQuotaUs),
    plain('spec_cpu_shares', 'CPU share of the container.', ({ limits }) => limits?.cpuShares),
    // Zero: no limit.
    plain('spec_memory_limit_bytes', 'Memory limit for the container.', ({ limits }) => limits && (limits.memoryBytes ?? 0)),
    plain('spec_memory_swap_limit_bytes', 'Memory swap limit for the container.', ({ limits }) => limits && (limits.swapBytes ?? 0)),
    plain(
      'spec_memory_reservation_limit_bytes',
      'Memory reservation limit for the container.',
      ({ limits }) => limits && (limits.memoryReservationBytes ?? 0),
    ),
  ];
}

function machineFamilies({ cores, memoryBytes, machineId, systemUuid, bootId }: CadvisorMachine): MetricFamily[] {
  const labels = { boot_id: bootId, machine_id: machineId, system_uuid: systemUuid };
  return [
    gauge('machine_cpu_cores', 'Number of logical CPU cores.', [{ labels, value: cores }]),
    gauge('machine_memory_bytes', 'Amount of memory installed on the machine.', [{ labels, value: memoryBytes }]),
  ];
}

function sample(labels: Labels, value: number | undefined, atMs?: number): MetricSample[] {
  return value === undefined ? [] : [{ labels, value, ...(atMs === undefined ? {} : { atMs }) }];
}
