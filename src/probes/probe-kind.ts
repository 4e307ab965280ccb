import type { Container } from '../model/pod.ts';
import type { ProbeResult } from '../model/probe-result.ts';
import type { Probe } from './run-probe.ts';

export const probeKinds = ['startup', 'readiness', 'liveness'] as const;
export type ProbeKind = (typeof probeKinds)[number];

/** What counts until the probe has found something (newWorker in pkg/kubelet/prober). */
export const initialResults: Readonly<Record<ProbeKind, ProbeResult>> = { liveness: 'success', readiness: 'failure', startup: 'unknown' };

/** As messages and metrics name it. */
export const probeTitles = { liveness: 'Liveness', readiness: 'Readiness', startup: 'Startup' } as const;

export function probeOf(container: Container, kind: ProbeKind): Probe | undefined {
  return { liveness: container.livenessProbe, readiness: container.readinessProbe, startup: container.startupProbe }[kind];
}
