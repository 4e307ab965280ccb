import type { VerbosityControl } from '../ports/verbosity-control.ts';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { leadsToServer } from '../base/leads-to-server.ts';
import type { Live } from '../base/live.ts';
import type { Logger } from '../base/logger.ts';
import { mountsNow } from '../base/mount-info.ts';
import { KUBERNETES_VERSION } from '../model/kubernetes-release.ts';
import { configz } from '../options/configz.ts';
import { featureGates } from '../options/feature-gates/feature-gates.ts';
import { flagz } from '../options/flagz.ts';
import type { KubeletOptions, LiveOptions } from '../options/kubelet-options.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { HostFiles } from '../ports/host-files.ts';
import { metricPage, type MetricText } from '../ports/metric-text.ts';
import type { HealthCheck } from '../ports/node-participant.ts';
import type { Route } from '../ports/route.ts';
import { findFile } from './find-file.ts';
import { checkpointRoutes } from './routes/checkpoint-routes.ts';
import { configRoutes } from './routes/config-routes.ts';
import { containerLogRoutes } from './routes/container-log-routes.ts';
import { debugRoutes } from './routes/debug-routes.ts';
import { execRoutes } from './routes/exec-routes.ts';
import { healthRoutes } from './routes/health-routes.ts';
import { nodeLogRoutes } from './routes/node-log-routes.ts';
import { podRoutes } from './routes/pod-routes.ts';
import { runRoutes } from './routes/run-routes.ts';
import type { ServedPods } from './routes/served-pods.ts';
import { type StatuszDeps, zPageRoutes } from './routes/z-page-routes.ts';
import { serverLimits } from './server-limits.ts';
import { DEFAULT_STREAM_CREATION_TIMEOUT_MS } from './streaming/remote-streams.ts';
import { servePortForward } from './streaming/serve-port-forward.ts';
import { serveAttach, serveExec } from './streaming/serve-remote-command.ts';

/** Of one answer to a log query: more than anyone reads. */
const MOST_LOGGED_BYTES = 64 * 1024 ** 2;

const thisProgram: Pick<StatuszDeps, 'uptimeSeconds' | 'version' | 'runtime'> = {
  uptimeSeconds: () => process.uptime(),
  version: KUBERNETES_VERSION.slice(1),
  runtime: `node ${process.version}`,
};

export interface ServerRoutesDeps {
  readonly options: KubeletOptions;
  readonly live: Live<LiveOptions>;
  readonly served: ServedPods;
  readonly hostFiles: Pick<HostFiles, 'run'>;
  /** Where the engine keeps its data; undefined: not on this machine. */
  readonly engineDirectory: (signal: AbortSignal) => Promise<string | undefined>;
  readonly health: () => readonly HealthCheck[];
  readonly tell: Pick<Happenings, 'healthChecked'>;
  /** What /metrics answers. */
  readonly metricTexts: readonly MetricText[];
  readonly verbosity: VerbosityControl;
  /** What is served, these routes and others. */
  readonly paths: () => readonly string[];
  /** How many files the agent may have open. */
  readonly openFiles: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What the node's server answers by itself: health, pods and how to reach into them, the node's logs, and the agent's own state. */
export function serverRoutes(deps: ServerRoutesDeps): readonly Route[] {
  const { options, live, served, hostFiles, engineDirectory, health, tell, metricTexts, verbosity, paths, openFiles, clock, log } = deps;
  const gates = featureGates(options.featureGates);
  return [
    ...healthRoutes({ health, tell }),
    ...podRoutes(served),
    ...containerLogRoutes({ served, clock, splitStreams: gates.isOn('PodLogsQuerySplitStreams') }),
    ...execRoutes({
      served,
      serveExec,
      serveAttach,
      servePortForward,
      mostForwarded: serverLimits(openFiles).forwarded,
      idleTimeoutMs: options.streamingConnectionIdleTimeoutMs,
      streamCreationTimeoutMs: DEFAULT_STREAM_CREATION_TIMEOUT_MS,
      clock,
      log,
    }),
    ...runRoutes({ served, clock }),
    ...nodeLogRoutes({
      directory: '/var/log',
      answers: async (path, signal) => {
        if (leadsToServer(path, mountsNow())) await hostFiles.run(findFile, { path }, signal);
      },
      linkTargets: async (signal) => {
        const directory = await engineDirectory(signal).catch(() => undefined);
        return directory === undefined ? [] : [join(directory, 'containers')];
      },
      queries: options.enableSystemLogQuery ? { journalctl: 'journalctl', mostBytes: MOST_LOGGED_BYTES, clock } : undefined,
    }),
    ...debugRoutes({ clock, verbosity }),
    ...configRoutes({ config: () => configz({ ...options, ...live.now }) }),
    metricPage('/metrics', ...metricTexts),
    ...(gates.isOn('ContainerCheckpoint') ? checkpointRoutes({ served, rootDir: options.rootDir, clock }) : []),
    ...zPageRoutes({
      status: gates.isOn('ComponentStatusz') ? { clock, ...thisProgram, paths } : undefined,
      flags: gates.isOn('ComponentFlagz') ? () => flagz(options) : undefined,
    }),
  ];
}
