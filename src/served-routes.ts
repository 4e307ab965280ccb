import { release } from 'node:os';
import { join } from 'node:path';
import { leadsToServer } from './base/leads-to-server.ts';
import { mountsNow } from './base/mount-info.ts';
import type { ThreadPoolWatch } from './base/thread-pool-watch.ts';
import { version } from './base/version.ts';
import { findFile } from './hostfiles/find-file.ts';
import { healthChecks } from './health-checks.ts';
import { readMachineFacts, readOsImage } from './node/machine-facts.ts';
import { configz } from './options/configz.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';
import type { NodeUsage, PodStats, PodUsage } from './ports/pod-stats.ts';
import type { ServerPartDeps } from './server-part.ts';
import type { Route } from './server/route.ts';
import { serverLimits } from './server/server-limits.ts';
import { checkpointRoutes } from './server/routes/checkpoint-routes.ts';
import { configRoutes } from './server/routes/config-routes.ts';
import { containerLogRoutes } from './server/routes/container-log-routes.ts';
import { debugRoutes } from './server/routes/debug-routes.ts';
import { execRoutes } from './server/routes/exec-routes.ts';
import { healthRoutes } from './server/routes/health-routes.ts';
import { type MetricsDeps, metricsRoutes } from './server/routes/metrics-routes.ts';
import { nodeLogRoutes } from './server/routes/node-log-routes.ts';
import { podRoutes } from './server/routes/pod-routes.ts';
import { runRoutes } from './server/routes/run-routes.ts';
import type { ServedPods } from './server/routes/served-pods.ts';
import { statsRoutes } from './server/routes/stats-routes.ts';
import { DEFAULT_STREAM_CREATION_TIMEOUT_MS } from './server/streaming/remote-streams.ts';
import { servePortForward } from './server/streaming/serve-port-forward.ts';
import { serveAttach, serveExec } from './server/streaming/serve-remote-command.ts';
import { cadvisorMetrics } from './stats/cadvisor-metrics.ts';
import { resourceMetrics } from './stats/resource-metrics.ts';
import { summaryOf } from './stats/summary.ts';
import { volumeMetrics } from './stats/volume-metrics.ts';

export interface ServedRoutesDeps extends ServerPartDeps {
  readonly stats: PodStats;
  readonly threadPool: Pick<ThreadPoolWatch, 'fault'>;
  /** How many files the agent may have open. */
  readonly openFiles: number;
}

interface Usage {
  readonly node: NodeUsage;
  readonly pods: readonly PodUsage[];
}

/** Every path that the node's server answers. */
export function servedRoutes(options: KubeletOptions, deps: ServedRoutesDeps): readonly Route[] {
  const { clock, log, pods, statuses, engine, cluster, setVerbosity, stats } = deps;
  const { nodeName } = options;
  const served: ServedPods = {
    pods,
    statusOf: (uid) => statuses.get(uid),
    runtime: engine.runtime,
    access: engine.access,
    ...(cluster && { mirrorUidOf: cluster.mirrorUidOf }),
  };
  return [
    ...healthRoutes({
      health: () => healthChecks(deps),
    }),
    ...podRoutes(served),
    ...containerLogRoutes({ served, clock }),
    ...execRoutes({
      served,
      serveExec,
      serveAttach,
      servePortForward,
      mostForwarded: serverLimits(deps.openFiles).forwarded,
      idleTimeoutMs: options.streamingConnectionIdleTimeoutMs,
      streamCreationTimeoutMs: DEFAULT_STREAM_CREATION_TIMEOUT_MS,
      clock,
      log,
    }),
    ...runRoutes({ served, clock }),
    ...nodeLogRoutes({
      directory: '/var/log',
      answers: async (path, signal) => {
        if (leadsToServer(path, mountsNow())) await deps.hostFiles.run(findFile, { path }, signal);
      },
      linkTargets: async (signal) => {
        const directory = await engine.dataDirectory(signal).catch(() => undefined);
        return directory === undefined ? [] : [join(directory, 'containers')];
      },
    }),
    ...debugRoutes({ clock, setVerbosity }),
    ...configRoutes({ config: () => configz(options) }),
    ...statsRoutes({
      summary: async (onlyCpuAndMemory, signal) => {
        const { node, pods: used } = await usageOf(stats, signal, onlyCpuAndMemory ? 'cpuAndMemory' : undefined);
        return summaryOf(node, used, { nodeName, onlyCpuAndMemory });
      },
    }),
    ...metricsRoutes(metricPages(deps)),
    ...checkpointRoutes(),
  ];
}

async function usageOf(stats: PodStats, signal: AbortSignal, only?: 'cpuAndMemory'): Promise<Usage> {
  const [node, pods] = await Promise.all([stats.node(signal, only), stats.pods(signal, only)]);
  return { node, pods };
}

function metricPages({ clock, metrics, stats, engine }: ServedRoutesDeps): MetricsDeps {
  /** A page tells by a metric of its own that nothing could be measured. */
  const usage = async (signal: AbortSignal, only?: 'cpuAndMemory'): Promise<Usage | undefined> => {
    try {
      return await usageOf(stats, signal, only);
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  };
  const paths = { root: '/' };
  return {
    kubelet: async (signal) => (await metrics.text()) + volumeMetrics((await usage(signal))?.pods ?? []),
    cadvisor: async (signal) => {
      const [used, machine, os, { name, version: engineVersion }] = await Promise.all([
        usage(signal),
        readMachineFacts(paths),
        readOsImage(paths),
        engine.runtime.info(signal),
      ]);
      const { cores, memoryBytes, machineId, systemUuid, bootId } = machine;
      return cadvisorMetrics({
        nowMs: clock.now(),
        machine: { cores, memoryBytes, machineId, systemUuid, bootId },
        versions: { kernel: release(), os, engine: `${name} ${engineVersion}`, agent: version() },
        usage: used,
      });
    },
    resource: async (signal) => resourceMetrics(await usage(signal, 'cpuAndMemory')),
    probes: () => metrics.probeText(),
  };
}
