import { isSidecar } from '../../../src/model/pod-predicates.ts';
import type { ContainerStatus, Pod, PodStatus, PodUid } from '../../../src/model/pod.ts';
import type { ProbeResult } from '../../../src/model/probe-result.ts';
import { parseTime } from '../../../src/model/time.ts';
import type { ContainerId, ContainerState, ObservedContainer, SandboxId } from '../../../src/ports/container-runtime.ts';
import { generatePodStatus } from '../../../src/agent/status/generate-pod-status.ts';

interface EngineRecord {
  readonly id: string;
  readonly name: string;
  readonly state: ContainerState['phase'];
  readonly createdAt?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly exitCode?: number;
  readonly restartCount?: number;
  readonly image?: string;
  readonly imageID?: string;
  readonly reason?: string;
  readonly message?: string;
}

interface In {
  readonly pod: Pod;
  readonly containers?: readonly EngineRecord[];
  readonly podIPs?: readonly string[];
  readonly startErrors?: readonly { readonly container: string; readonly reason: string; readonly message?: string }[];
  readonly startupResults?: Readonly<Record<string, string>>;
  readonly now?: string;
}

/** The required fields of a Go struct are there even when the JSON leaves them out. */
const goStatus = (status: ContainerStatus): ContainerStatus => ({
  ...status,
  image: status.image ?? '',
  imageID: status.imageID ?? '',
  ready: status.ready ?? false,
  restartCount: status.restartCount ?? 0,
  state: status.state ?? {},
  lastState: status.lastState ?? {},
});

const goPod = (pod: Pod): Pod => {
  const { containerStatuses, initContainerStatuses, ...status } = pod.status ?? {};
  const filled: PodStatus = {
    ...status,
    ...(containerStatuses ? { containerStatuses: containerStatuses.map(goStatus) } : {}),
    ...(initContainerStatuses ? { initContainerStatuses: initContainerStatuses.map(goStatus) } : {}),
  };
  return { ...pod, spec: { ...pod.spec, containers: pod.spec.containers ?? [] }, status: filled };
};

/** The year 1, where Go's time begins. */
const goZeroMs = -62_135_596_800_000;

const stateOf = ({ state: phase, startedAt, finishedAt, exitCode = 0, reason = '', message = '' }: EngineRecord): ContainerState => {
  if (phase === 'exited') {
    return { phase, startedAtMs: parseTime(startedAt), finishedAtMs: parseTime(finishedAt) ?? 0, exitCode, reason, message };
  }
  return phase === 'running' ? { phase, startedAtMs: parseTime(startedAt) ?? 0 } : { phase };
};

const observedOf = (record: EngineRecord): ObservedContainer => ({
  id: record.id as ContainerId,
  name: record.name,
  image: record.image ?? '',
  imageId: record.imageID ?? '',
  specHash: '',
  attempt: record.restartCount ?? 0,
  createdAtMs: parseTime(record.createdAt) ?? goZeroMs,
  state: stateOf(record),
});

export const run = ({ pod, containers = [], podIPs = [], startErrors = [], startupResults = {}, now }: In): unknown => {
  const sandbox = { id: 'sb' as SandboxId, attempt: 0, createdAtMs: 0, ready: true, network: 'pod' as const, ips: podIPs };
  const observed = { uid: 'u' as PodUid, sandboxes: [sandbox], containers: containers.map(observedOf) };
  const startTimeMs = parseTime(pod.status?.startTime);
  const { hostIPs: _newer, ...status } = generatePodStatus(goPod(pod), observed, {
    previous: undefined,
    startErrors: new Map(startErrors.map(({ container, reason, message = '' }) => [container, { reason, message }])),
    startup: (id) => startupResults[id]?.toLowerCase() as ProbeResult | undefined,
    readiness: () => undefined,
    hostIPs: ['10.1.2.3'],
    runtimeName: 'docker',
    ...(startTimeMs === undefined ? {} : { ageMs: (parseTime(now) ?? 0) - startTimeMs }),
  });
  // Today's kubelets say of plain init containers, too, whether they have started.
  const sidecars = new Set((pod.spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const initContainerStatuses = status.initContainerStatuses?.map(({ started, ...one }) =>
    sidecars.has(one.name) ? { ...one, started } : one,
  );
  return { ...status, initContainerStatuses };
};
