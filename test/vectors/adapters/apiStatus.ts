import { generatePodStatus } from '../../../src/agent/status/generate-pod-status.ts';
import { isSidecar } from '../../../src/model/pod-predicates.ts';
import type { ContainerStatus, Pod, PodStatus } from '../../../src/model/pod.ts';
import { parseTime } from '../../../src/model/time.ts';
import { type GivenContainer, type GivenStartError, observedPod, probeResults, startErrorsOf } from '../observed-pod.ts';

interface In {
  readonly pod: Pod;
  readonly containers?: readonly (GivenContainer & { readonly imageID?: string })[];
  readonly podIPs?: readonly string[];
  readonly startErrors?: readonly GivenStartError[];
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

export const run = ({ pod, containers = [], podIPs = [], startErrors, startupResults, now }: In): unknown => {
  const observed = observedPod(pod.metadata, [{ id: 'sb', state: 'READY', ips: podIPs }], containers, ({ createdAt, imageID = '' }) => ({
    imageId: imageID,
    createdAtMs: parseTime(createdAt) ?? goZeroMs,
  }));
  const startTimeMs = parseTime(pod.status?.startTime);
  const { hostIPs: _newer, ...status } = generatePodStatus(goPod(pod), observed, {
    previous: undefined,
    startErrors: startErrorsOf(startErrors),
    startup: probeResults(startupResults),
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
