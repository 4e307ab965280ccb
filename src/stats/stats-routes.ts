import { release } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { type MachinePaths, readMachineFacts, readOsImage } from '../base/machine-facts.ts';
import { version } from '../base/version.ts';
import { metricPage, type MetricText } from '../ports/metric-text.ts';
import type { ContainerRuntime } from '../ports/container-runtime.ts';
import type { NodeUsage, PodStats, PodUsage } from '../ports/pod-stats.ts';
import type { Route } from '../ports/route.ts';
import { cadvisorMetrics } from './cadvisor-metrics.ts';
import { resourceMetrics } from './resource-metrics.ts';
import { summaryOf } from './summary.ts';
import { summaryRoutes } from './summary-routes.ts';
import { volumeMetrics } from './volume-metrics.ts';

export interface StatsRoutesDeps {
  readonly stats: PodStats;
  readonly runtime: Pick<ContainerRuntime, 'info'>;
  readonly nodeName: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Where the kernel says what the machine is. */
  readonly paths: MachinePaths;
}

interface Usage {
  readonly node: NodeUsage;
  readonly pods: readonly PodUsage[];
}

/** /stats/summary, /metrics/cadvisor and /metrics/resource. */
export function statsRoutes({ stats, runtime, nodeName, clock, paths }: StatsRoutesDeps): readonly Route[] {
  const cadvisor: MetricText = async (signal) => {
    const [used, machine, os, { name, version: engineVersion }] = await Promise.all([
      usageIfAny(stats, signal),
      readMachineFacts(paths),
      readOsImage(paths),
      runtime.info(signal),
    ]);
    const { cores, memoryBytes, machineId, systemUuid, bootId } = machine;
    return cadvisorMetrics({
      nowMs: clock.now(),
      machine: { cores, memoryBytes, machineId, systemUuid, bootId },
      versions: { kernel: release(), os, engine: `${name} ${engineVersion}`, agent: version() },
      usage: used,
    });
  };
  return [
    ...summaryRoutes({
      summary: async (onlyCpuAndMemory, signal) => {
        const { node, pods } = await usageOf(stats, signal, onlyCpuAndMemory ? 'cpuAndMemory' : undefined);
        return summaryOf(node, pods, { nodeName, onlyCpuAndMemory });
      },
    }),
    metricPage('/metrics/cadvisor', cadvisor),
    metricPage('/metrics/resource', async (signal) => resourceMetrics(await usageIfAny(stats, signal, 'cpuAndMemory'))),
  ];
}

/** The part of /metrics about volumes and the logs of containers. */
export function volumeText(stats: PodStats): MetricText {
  return async (signal) => volumeMetrics((await usageIfAny(stats, signal))?.pods ?? []);
}

async function usageOf(stats: PodStats, signal: AbortSignal, only?: 'cpuAndMemory'): Promise<Usage> {
  const [node, pods] = await Promise.all([stats.node(signal, only), stats.pods(signal, only)]);
  return { node, pods };
}

/** A page reports by a metric of its own that nothing could be measured. */
async function usageIfAny(stats: PodStats, signal: AbortSignal, only?: 'cpuAndMemory'): Promise<Usage | undefined> {
  try {
    return await usageOf(stats, signal, only);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
