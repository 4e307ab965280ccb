import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodUid } from '../../../src/model/pod.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import type { ContainerUsage, NodeUsage, PodUsage } from '../../../src/ports/pod-stats.ts';
import { cadvisorMetrics } from '../../../src/stats/cadvisor-metrics.ts';
import { resourceMetrics } from '../../../src/stats/resource-metrics.ts';
import { summaryOf } from '../../../src/stats/summary.ts';
import { volumeMetrics } from '../../../src/stats/volume-metrics.ts';

const atMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const time = '2026-01-02T03:04:05Z';
const cpu = { atMs, usageNanoCores: 5, usageCoreNanoSeconds: 1_500_000_000 };
const memory = { atMs, availableBytes: 9, usageBytes: 8, workingSetBytes: 7, rssBytes: 6, pageFaults: 5, majorPageFaults: 4 };
const fs = { atMs, availableBytes: 1, capacityBytes: 2, usedBytes: 3, inodesFree: 4, inodes: 5, inodesUsed: 6, device: '/dev/sda' };
const eth0 = { name: 'eth0', rxBytes: 1, rxErrors: 2, rxPackets: 3, rxDropped: 4, txBytes: 5, txErrors: 6, txPackets: 7, txDropped: 8 };
const network = { atMs, interfaces: [eth0] };

const share = { avg10: 1.5, avg60: 0.5, avg300: 0.25 };
const waited = (totalUs: number) => ({ some: { ...share, totalUs }, full: { avg10: 0, avg60: 0, avg300: 0, totalUs: 40 } });
const pressure = { atMs, cpu: waited(1_500_000), memory: waited(2), io: waited(3) };
const disks = [{ device: '/dev/sda', readBytes: 4096, writtenBytes: 512, reads: 3, writes: 1 }];

const app: ContainerUsage = {
  id: 'c1' as ContainerId,
  name: 'app',
  startedAtMs: atMs,
  cpu,
  memory: { ...memory, cacheBytes: 3 },
  rootfs: fs,
  logs: fs,
  cgroup: '/docker/c1',
  engineName: 'k8s_app_web',
  image: 'busy"box\\',
  processes: 2,
  limits: { cpuShares: 512, memoryBytes: 64 },
};
const web: PodUsage = {
  uid: 'u1' as PodUid,
  name: 'web',
  namespace: 'shop',
  startedAtMs: atMs,
  containers: [app],
  sandbox: { ...app, id: 's1' as ContainerId, name: 'POD', cgroup: '/docker/s1' },
  network,
  cpu,
  memory,
  volumes: [
    { ...fs, name: 'data', claim: { name: 'disk', namespace: 'shop' } },
    { atMs, name: 'again', claim: { name: 'disk', namespace: 'shop' } },
    { atMs, name: 'plain', usedBytes: 12 },
  ],
  ephemeralStorage: fs,
  processes: 4,
};
const node: NodeUsage = {
  startedAtMs: atMs,
  cpu,
  memory,
  network,
  fs,
  imageFs: fs,
  pids: { atMs, max: 100, running: 10 },
  systemContainers: [{ id: 'kubelet' as ContainerId, name: 'kubelet', startedAtMs: atMs, cpu }],
};
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const cpuJson = { time, usageNanoCores: 5, usageCoreNanoSeconds: 1_500_000_000 };
const memoryJson = { time, availableBytes: 9, usageBytes: 8, workingSetBytes: 7, rssBytes: 6, pageFaults: 5, majorPageFaults: 4 };
const fsJson = { time, availableBytes: 1, capacityBytes: 2, usedBytes: 3, inodesFree: 4, inodes: 5, inodesUsed: 6 };
const eth0Json = { name: 'eth0', rxBytes: 1, rxErrors: 2, txBytes: 5, txErrors: 6 };

/** On cgroup v2, with swap. */
const busy: ContainerUsage = {
  ...app,
  memory: { ...memory, limitHits: 2, swapBytes: 11, swapLimitBytes: 20, oomKills: 6 },
  pressure,
  disks,
};

describe('the summary', () => {
  test("has the kubelet's field names, and no other", () => {
    const networkJson = { time, ...eth0Json, interfaces: [eth0Json] };
    const nothing = { time, availableBytes: 0, capacityBytes: 0, usedBytes: 0, inodesFree: 0, inodes: 0, inodesUsed: 0 };
    const pvcRef = { name: 'disk', namespace: 'shop' };
    assert.deepEqual(json(summaryOf(node, [web], { nodeName: 'n1' })), {
      node: {
        nodeName: 'n1',
        systemContainers: [{ name: 'kubelet', startTime: time, cpu: cpuJson }],
        startTime: time,
        cpu: cpuJson,
        memory: memoryJson,
        network: networkJson,
        fs: fsJson,
        runtime: { imageFs: fsJson },
        rlimit: { time, maxpid: 100, curproc: 10 },
      },
      pods: [
        {
          podRef: { name: 'web', namespace: 'shop', uid: 'u1' },
          startTime: time,
          containers: [{ name: 'app', startTime: time, cpu: cpuJson, memory: memoryJson, rootfs: fsJson, logs: fsJson }],
          cpu: cpuJson,
          memory: memoryJson,
          network: networkJson,
          volume: [
            { ...fsJson, name: 'data', pvcRef },
            { ...nothing, name: 'again', pvcRef },
            { ...nothing, usedBytes: 12, name: 'plain' },
          ],
          'ephemeral-storage': fsJson,
          process_stats: { process_count: 4 },
        },
      ],
    });
  });

  test('of processors and memory alone leaves out the rest', () => {
    assert.deepEqual(json(summaryOf(node, [web], { nodeName: 'n1', onlyCpuAndMemory: true })), {
      node: {
        nodeName: 'n1',
        systemContainers: [{ name: 'kubelet', startTime: time, cpu: cpuJson }],
        startTime: time,
        cpu: cpuJson,
        memory: memoryJson,
      },
      pods: [
        {
          podRef: { name: 'web', namespace: 'shop', uid: 'u1' },
          startTime: time,
          containers: [{ name: 'app', startTime: time, cpu: cpuJson, memory: memoryJson }],
          cpu: cpuJson,
          memory: memoryJson,
        },
      ],
    });
  });

  test('tells swap, and how long was waited', () => {
    const full = { total: 40, avg10: 0, avg60: 0, avg300: 0 };
    const psi = (total: number) => ({ full, some: { total, ...share } });
    const swap = { atMs, usedBytes: 1, availableBytes: 2 };
    const pod = { ...web, memory: { ...memory, swapBytes: 11 }, pressure, containers: [busy] };
    const told = json(summaryOf({ ...node, swap, pressure }, [pod], { nodeName: 'n1' })) as Record<'node', unknown> & {
      readonly pods: readonly (Record<string, unknown> & { readonly containers: readonly unknown[] })[];
    };
    const parts = {
      cpu: { ...cpuJson, psi: psi(1_500_000) },
      memory: { ...memoryJson, psi: psi(2) },
      io: { time, psi: psi(3) },
    };
    const { containers = [], ...rest } = told.pods[0] ?? {};
    assert.partialDeepStrictEqual(told.node, { ...parts, swap: { time, swapAvailableBytes: 2, swapUsageBytes: 1 } });
    assert.partialDeepStrictEqual(rest, { ...parts, swap: { time, swapUsageBytes: 11 } });
    assert.partialDeepStrictEqual(containers[0], { ...parts, swap: { time, swapAvailableBytes: 9, swapUsageBytes: 11 } });
  });

  test('without pods is complete', () => {
    const nothing: NodeUsage = { startedAtMs: atMs, systemContainers: [], network: { atMs, interfaces: [] } };
    assert.deepEqual(json(summaryOf(nothing, [], { nodeName: 'n1' })), {
      node: { nodeName: 'n1', systemContainers: [], startTime: time, network: { time, name: '' } },
      pods: [],
    });
  });
});

/** The samples of a family, as written. */
const samples = (text: string, name: string): string[] =>
  text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

describe('/metrics/resource', () => {
  test('tells counters with the time of their measuring, for node, pods and containers', () => {
    const text = resourceMetrics({ node, pods: [web] });
    for (const [name, expected] of [
      ['node_cpu_usage_seconds_total', `node_cpu_usage_seconds_total 1.5 ${atMs}`],
      ['node_memory_working_set_bytes', `node_memory_working_set_bytes 7 ${atMs}`],
      ['container_cpu_usage_seconds_total', `container_cpu_usage_seconds_total{container="app",namespace="shop",pod="web"} 1.5 ${atMs}`],
      ['container_memory_working_set_bytes', `container_memory_working_set_bytes{container="app",namespace="shop",pod="web"} 7 ${atMs}`],
      ['container_start_time_seconds', `container_start_time_seconds{container="app",namespace="shop",pod="web"} ${atMs / 1000}`],
      ['pod_cpu_usage_seconds_total', `pod_cpu_usage_seconds_total{namespace="shop",pod="web"} 1.5 ${atMs}`],
      ['pod_memory_working_set_bytes', `pod_memory_working_set_bytes{namespace="shop",pod="web"} 7 ${atMs}`],
      ['scrape_error', 'scrape_error 0'],
      ['resource_scrape_error', 'resource_scrape_error 0'],
    ] as const)
      assert.deepEqual(samples(text, name), [expected]);
    assert.match(text, /^# HELP node_cpu_usage_seconds_total \[ALPHA\] Cumulative cpu time consumed by the node in core-seconds$/m);
    assert.match(text, /^# TYPE node_cpu_usage_seconds_total counter$/m);
  });

  test('tells swap where there is any', () => {
    const swap = { atMs, usedBytes: 1, availableBytes: 2 };
    const text = resourceMetrics({ node: { ...node, swap }, pods: [{ ...web, memory: { ...memory, swapBytes: 12 }, containers: [busy] }] });
    for (const [name, expected] of [
      ['node_swap_usage_bytes', ` 1 ${atMs}`],
      ['container_swap_usage_bytes', `{container="app",namespace="shop",pod="web"} 11 ${atMs}`],
      ['container_swap_limit_bytes', `{container="app",namespace="shop",pod="web"} 20 ${atMs}`],
      ['pod_swap_usage_bytes', `{namespace="shop",pod="web"} 12 ${atMs}`],
    ] as const)
      assert.deepEqual(samples(text, name), [name + expected]);
  });

  test('tells when it could not be measured', () => {
    const text = resourceMetrics(undefined);
    assert.deepEqual(
      [samples(text, 'scrape_error'), samples(text, 'resource_scrape_error')],
      [['scrape_error 1'], ['resource_scrape_error 1']],
    );
    assert.equal(text.includes('node_cpu'), false);
  });
});

describe('/metrics/cadvisor', () => {
  const text = cadvisorMetrics({
    nowMs: atMs,
    machine: { cores: 2, memoryBytes: 1024, machineId: 'm', systemUuid: 's', bootId: 'b' },
    versions: { kernel: '6.1', os: 'Debian', engine: '20.10', agent: '0.1.0' },
    usage: { node: { ...node, disks, pressure }, pods: [{ ...web, containers: [busy] }] },
  });
  const labels = 'container="app",id="/docker/c1",image="busy\\"box\\\\",name="k8s_app_web",namespace="shop",pod="web"';

  const root = 'container="",id="/",image="",name="",namespace="",pod=""';

  for (const [name, expected] of [
    ['container_cpu_usage_seconds_total', `{container="app",cpu="total",${labels.slice('container="app",'.length)}} 1.5 ${atMs}`],
    ['container_memory_working_set_bytes', `{${labels}} 7 ${atMs}`],
    ['container_memory_failcnt', `{${labels}} 2 ${atMs}`],
    ['container_oom_events_total', `{${labels}} 6 ${atMs}`],
    ['container_pressure_cpu_waiting_seconds_total', `{${labels}} 1.5 ${atMs}`],
    ['container_pressure_cpu_stalled_seconds_total', `{${labels}} 0.00004 ${atMs}`],
    ['container_pressure_memory_waiting_seconds_total', `{${labels}} 0.000002 ${atMs}`],
    ['container_pressure_io_waiting_seconds_total', `{${labels}} 0.000003 ${atMs}`],
    ['container_pressure_cpu_waiting_seconds_total', `{${root}} 1.5 ${atMs}`],
    ['container_fs_reads_bytes_total', `{container="app",device="/dev/sda",${labels.slice('container="app",'.length)}} 4096`],
    ['container_fs_reads_total', `{container="",device="/dev/sda",${root.slice('container="",'.length)}} 3`],
    ['container_fs_writes_bytes_total', `{container="app",device="/dev/sda",${labels.slice('container="app",'.length)}} 512`],
    ['container_fs_writes_total', `{container="app",device="/dev/sda",${labels.slice('container="app",'.length)}} 1`],
    ['container_last_seen', `{${labels}} ${Math.floor(atMs / 1000)} ${atMs}`],
    ['container_start_time_seconds', `{${labels}} ${Math.floor(atMs / 1000)}`],
    ['container_fs_usage_bytes', `{container="app",device="/dev/sda",${labels.slice('container="app",'.length)}} 3`],
    ['container_spec_cpu_shares', `{${labels}} 512`],
    ['container_spec_memory_limit_bytes', `{${labels}} 64`],
    ['container_spec_memory_swap_limit_bytes', `{${labels}} 0`],
    ['container_processes', `{${labels}} 2`],
  ] as const)
    test(`has ${name}`, () => assert.ok(samples(text, name).includes(name + expected), samples(text, name).join('\n')));

  test('tells the network at the sandbox and at the root', () => {
    assert.deepEqual(
      samples(text, 'container_network_transmit_packets_dropped_total').map((line) => [
        /id="([^"]*)"/.exec(line)?.[1],
        line.split(' ').at(-2),
      ]),
      [
        ['/', '8'],
        ['/docker/s1', '8'],
      ],
    );
  });

  test('tells the machine, and that nothing failed', () => {
    assert.deepEqual(samples(text, 'machine_cpu_cores'), ['machine_cpu_cores{boot_id="b",machine_id="m",system_uuid="s"} 2']);
    assert.deepEqual(samples(text, 'machine_memory_bytes'), ['machine_memory_bytes{boot_id="b",machine_id="m",system_uuid="s"} 1024']);
    assert.deepEqual(
      [samples(text, 'container_scrape_error'), samples(text, 'machine_scrape_error')],
      [['container_scrape_error 0'], ['machine_scrape_error 0']],
    );
  });

  test("has a row for a pod's own cgroup only where there is one", () => {
    const rows = (pod: PodUsage): (string | undefined)[] =>
      samples(cadvisorMetrics({ nowMs: atMs, usage: { node, pods: [pod] } }), 'container_memory_rss').map(
        (line) => /id="([^"]*)"/.exec(line)?.[1],
      );
    assert.deepEqual(rows(web), ['/', '/docker/s1', '/docker/c1']);
    assert.deepEqual(rows({ ...web, cgroup: '/kubepods/podu1' }), ['/', '/kubepods/podu1', '/docker/s1', '/docker/c1']);
  });

  test('has one help and one type for each family, and no sample twice', () => {
    const lines = text.trimEnd().split('\n');
    const helps = lines.filter((line) => line.startsWith('# HELP')).map((line) => line.split(' ')[2]);
    assert.deepEqual(
      helps,
      [...new Set(helps)].toSorted((a = '', b = '') => (a < b ? -1 : 1)),
    );
    const series = lines.filter((line) => !line.startsWith('#')).map((line) => line.slice(0, line.lastIndexOf('}') + 1) || line);
    assert.equal(new Set(series).size, series.length);
  });
});

test('claims are told once, and logs by container', () => {
  const text = volumeMetrics([web]);
  assert.deepEqual(samples(text, 'kubelet_volume_stats_used_bytes'), [
    'kubelet_volume_stats_used_bytes{namespace="shop",persistentvolumeclaim="disk"} 3',
  ]);
  assert.deepEqual(samples(text, 'kubelet_container_log_filesystem_used_bytes'), [
    'kubelet_container_log_filesystem_used_bytes{container="app",namespace="shop",pod="web",uid="u1"} 3',
  ]);
});
