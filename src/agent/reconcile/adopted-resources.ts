import { effectiveResources } from '../../model/effective-resources.ts';
import type { Container, Pod, PodSpec } from '../../model/pod.ts';
import { Quantity } from '../../model/quantity.ts';
import type { ObservedContainer } from '../../ports/container-runtime.ts';

type Requirements = NonNullable<PodSpec['resources']>;

/** What is no more than these is the kernel's least (MinShares, MinMilliCPULimit in pkg/kubelet/cm). */
const leastMilliCpuRequest = 2n;
const leastMilliCpuLimit = 10n;

/**
 * What a container seems to have been made with, of which nothing is recorded: another agent made it. Of what the engine does not show, or
 * rounds, it is what the container is to have: a container is not restarted on a guess.
 */
export function adoptedResources(pod: Pod, container: Container, { resources }: ObservedContainer): Requirements {
  const asked = effectiveResources(pod, container);
  if (resources === undefined) return asked;
  const { cpuRequest, cpuLimit, memoryLimit } = resources;
  // Without a request the limit stood in for it.
  const requestedCpu = asked.requests?.['cpu'] === undefined && same(cpuRequest, cpuLimit) ? undefined : cpuRequest;
  const memoryRequest = asked.requests?.['memory'];
  return {
    requests: {
      ...amount('cpu', seen(asked.requests?.['cpu'], requestedCpu, leastMilliCpuRequest)),
      ...(memoryRequest !== undefined && { memory: memoryRequest }),
    },
    limits: { ...amount('cpu', seen(asked.limits?.['cpu'], cpuLimit, leastMilliCpuLimit)), ...amount('memory', memoryLimit) },
  };
}

const same = (one: Quantity | undefined, other: Quantity | undefined): boolean =>
  one !== undefined && other !== undefined && one.cmp(other) === 0;

const amount = (name: 'cpu' | 'memory', quantity: Quantity | undefined): Readonly<Record<string, string>> =>
  quantity === undefined || quantity.isZero() ? {} : { [name]: quantity.canonical() };

/** What is below the kernel's least is what was asked for, if that is, too. */
function seen(asked: string | undefined, found: Quantity | undefined, least: bigint): Quantity | undefined {
  const wanted = Quantity.fromJson(asked);
  return wanted.milliValue() <= least && (found?.milliValue() ?? 0n) <= least ? wanted : found;
}
