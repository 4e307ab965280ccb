import type { ContainerStatus } from '../../../src/model/pod.ts';
import type { ProbeResult } from '../../../src/model/probe-result.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import { initReady, startedAndReady } from '../../../src/model/started-and-ready.ts';

interface In {
  readonly containers?: readonly ContainerStatus[];
  readonly initContainers?: readonly ContainerStatus[];
  readonly workers?: readonly string[];
  readonly readiness?: Readonly<Record<string, string>>;
  readonly startup?: Readonly<Record<string, string>>;
}

const results: Readonly<Record<string, ProbeResult>> = { Success: 'success', Failure: 'failure', Unknown: 'unknown' };

export const run = ({ containers = [], initContainers = [], workers = [], readiness = {}, startup = {} }: In): unknown => {
  // A worker is there for each probe that is declared.
  const specOf = ({ name }: ContainerStatus): { name: string; readinessProbe?: object; startupProbe?: object } => ({
    name,
    ...(workers.includes(`${name}/readiness`) ? { readinessProbe: {} } : {}),
    ...(workers.includes(`${name}/startup`) ? { startupProbe: {} } : {}),
  });
  const pod = { spec: { containers: containers.map(specOf), initContainers: initContainers.map(({ name }) => ({ name })) } };
  const of = (cached: Readonly<Record<string, string>>) => (id: ContainerId) => results[cached[`test://${id}`] ?? ''];
  const findings = { readiness: of(readiness), startup: of(startup) };
  const statuses = [
    ...containers.map((status) => startedAndReady(pod, status, findings)),
    ...initContainers.map((status) => initReady(pod, status, findings)),
  ];
  return Object.fromEntries(statuses.map(({ name, ready, started }) => [name, { ready, started }]));
};
