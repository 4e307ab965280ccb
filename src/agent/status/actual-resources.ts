import { resourcesOfCgroup } from '../../model/linux-resources.ts';
import { podLimits, type Quantities } from '../../model/pod-resources.ts';
import type { Container, Pod, PodSpec } from '../../model/pod.ts';
import { Quantity } from '../../model/quantity.ts';
import type { ObservedContainer } from '../../ports/container-runtime.ts';
import type { PodCgroup } from '../../ports/pod-participant.ts';

type Requirements = NonNullable<PodSpec['resources']>;
type Amounts = Readonly<Record<string, string>>;

/** What is no more than these is the kernel's least: the spec's amount is reported (pkg/kubelet/cm). */
const leastMilliCpuRequest = 2n;
const leastMilliCpuLimit = 10n;

/** The amounts of one list: those that are read go before those reported before, and these before the spec's. */
function filled(
  spec: Amounts,
  read: Readonly<Record<string, Quantity | undefined>>,
  reported: Amounts | undefined,
  leastMilliCpu: bigint,
): Amounts {
  const found: Record<string, string> = { ...spec };
  for (const name of ['cpu', 'memory']) {
    const amount = read[name];
    const before = reported?.[name];
    if (amount === undefined) {
      if (before !== undefined) found[name] = before;
    } else if (name !== 'cpu' || amount.milliValue() > leastMilliCpu || Quantity.fromJson(spec[name]).milliValue() > leastMilliCpu) {
      found[name] = amount.canonical();
    }
  }
  return found;
}

/**
 * What status says of a container's resources: those that it runs with, else those that it was given (convertContainerStatusResources in
 * pkg/kubelet/kubelet_pods.go). `reported`: what was reported of this very container while it ran.
 */
export function containerResources(
  { resources = {} }: Container,
  { state, resources: read }: ObservedContainer,
  reported: Requirements | undefined,
): Requirements {
  if (state.phase !== 'running') return resources;
  const { limits, requests } = resources;
  return {
    ...resources,
    ...(limits && { limits: filled(limits, { cpu: read?.cpuLimit, memory: read?.memoryLimit }, reported?.limits, leastMilliCpuLimit) }),
    ...(requests && {
      requests: filled(requests, { cpu: read?.cpuRequest, memory: read?.memoryRequest }, reported?.requests, leastMilliCpuRequest),
    }),
  };
}

/** What status says of a pod's resources as a whole (convertToAPIPodLevelResourcesStatus). `requested`: its podRequests. */
export function podResources(pod: Pod, requested: Quantities, cgroup: PodCgroup | undefined, reported: Pod['status']): Requirements {
  if (pod.status?.phase !== 'Running') return listed(pod.spec.resources, shown(requested), shown(podLimits(pod)));
  const read = cgroup && resourcesOfCgroup({ ...cgroup, memoryLimit: cgroup.memory });
  const before = reported?.phase === 'Running' ? reported.resources : undefined;
  const { requests = {}, limits = {} } = pod.spec.resources ?? {};
  const memory = requested.get('memory')?.canonical();
  const allocated = memory === undefined ? requests : { memory, ...requests };
  return listed(
    pod.spec.resources,
    filled(allocated, { cpu: read?.cpuRequest }, before?.requests, leastMilliCpuRequest),
    filled(limits, { cpu: read?.cpuLimit, memory: read?.memoryLimit }, before?.limits, leastMilliCpuLimit),
  );
}

const shown = (quantities: Quantities): Amounts => Object.fromEntries([...quantities].map(([name, amount]) => [name, amount.canonical()]));

function listed(spec: Requirements | undefined, requests: Amounts, limits: Amounts): Requirements {
  const isEmpty = (amounts: Amounts): boolean => Object.keys(amounts).length === 0;
  return { ...(spec?.claims && { claims: spec.claims }), ...(!isEmpty(limits) && { limits }), ...(!isEmpty(requests) && { requests }) };
}
