import { map, type Observable, tap } from 'rxjs';
import { chance } from './base/chance.ts';
import type { Clock } from './base/clock.ts';
import type { Logger } from './base/logger.ts';
import type { Service } from './base/service.ts';
import type { Pod, PodStatus, PodUid } from './model/pod.ts';
import type { PodWake } from './mux/desired-pods.ts';
import { KUBERNETES_VERSION } from './node/node-info.ts';
import type { ContainerAccess } from './ports/container-access.ts';
import type { ContainerHooks } from './ports/container-hooks.ts';
import type { ContainerRuntime } from './ports/container-runtime.ts';
import type { EventRecorder } from './ports/event-recorder.ts';
import type { StatusManager } from './ports/status-manager.ts';
import { HookRunner } from './probes/hook-runner.ts';
import { PassedProbesFile } from './probes/passed-probes-file.ts';
import { ProbeManager } from './probes/probe-manager.ts';
import type { ProbeExecution } from './probes/probe-worker.ts';
import { probeRunner } from './probes/run-probe.ts';
import type { ProbeFindings } from './status/started-and-ready.ts';
import { withProbeResults } from './status/with-probe-results.ts';

export interface LifecyclePartDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly statuses: Pick<StatusManager, 'get' | 'set'>;
  /** As it is declared now. */
  readonly podOf: (uid: PodUid) => Pod | undefined;
  readonly runtime: Pick<ContainerRuntime, 'observePod'>;
  readonly access: Pick<ContainerAccess, 'exec'>;
  /** The node's addresses, primary first. */
  readonly hostIps: readonly string[];
  /** What the API server had of the pod when the agent began. */
  readonly previousStatus: (pod: Pod) => PodStatus | undefined;
  /** Where what has passed is kept over a restart; undefined: nowhere. */
  readonly passedProbesPath?: string;
  readonly onProbe?: (execution: ProbeExecution) => void;
  /** The pod has ended: its probes are no longer told of. */
  readonly onProbesForgotten?: (uid: PodUid) => void;
  /** From 0 up to 1. */
  readonly random?: () => number;
}

export interface LifecyclePart {
  readonly probes: ProbeManager;
  readonly hooks: ContainerHooks;
  /** Pods to look at again; what readiness is told of them is told already. */
  readonly wakes: Observable<PodWake>;
  /** To run from before the first pod until after the last step. */
  readonly services: readonly Service[];
}

/** What is asked of containers while they live, and at their beginning and end: probes and hooks. */
export function lifecyclePart(deps: LifecyclePartDeps): LifecyclePart {
  const {
    clock,
    log,
    events,
    statuses,
    runtime,
    access,
    hostIps,
    previousStatus,
    passedProbesPath,
    onProbe,
    onProbesForgotten: onForgotten,
  } = deps;
  const [, release = ''] = /^v(\d+\.\d+)/.exec(KUBERNETES_VERSION) ?? [];
  const probes = new ProbeManager({
    clock,
    log,
    events,
    onProbe,
    onForgotten,
    random: deps.random ?? chance,
    statusOf: (uid) => statuses.get(uid),
    previousStatus,
    runProbe: probeRunner({ clock, access, userAgent: `kube-probe/${release}` }),
    ...(passedProbesPath === undefined ? {} : { file: new PassedProbesFile(passedProbesPath, { clock, log }) }),
  });
  const hooks = new HookRunner({
    clock,
    log,
    events,
    access,
    userAgent: `kube-lifecycle/${release}`,
    podIp: async ({ metadata: { uid }, spec }, signal) =>
      spec.hostNetwork ? hostIps[0] : (await runtime.observePod(uid, signal)).sandboxes[0]?.ips[0],
  });
  const findings: ProbeFindings = { startup: (id) => probes.startup(id), readiness: (id) => probes.readiness(id) };
  const tellReadiness = (uid: PodUid): void => {
    const pod = deps.podOf(uid);
    const status = statuses.get(uid);
    if (pod && status) statuses.set(pod, withProbeResults(pod, status, findings));
  };
  const wakes = probes.changes.pipe(
    tap(tellReadiness),
    map((uid): PodWake => ({ uid, reason: 'probe result' })),
  );
  return { probes, hooks, wakes, services: [probes, hooks] };
}
