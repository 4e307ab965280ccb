import { filter, map, merge, Subject } from 'rxjs';
import { coalesceMap } from '../base/coalesce-map.ts';
import { drainInto } from '../base/drain-into.ts';
import { containerLinuxResources, type LimitingNode } from '../model/linux-resources.ts';
import { absoluteAllocatable } from '../model/node-allocatable.ts';
import type { Pod, PodStatus, PodUid } from '../model/pod.ts';
import { Quantity } from '../model/quantity.ts';
import { featureGates } from '../options/feature-gates/feature-gates.ts';
import { reservedResources } from '../options/reserved-resources.ts';
import { swapRules } from '../options/swap-rules.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { StatusChange } from '../ports/pod-statuses.ts';
import { type CgroupSettings, containerMemory } from './container-memory.ts';

type MemoryNeeds = Pick<NodeParts, 'options' | 'cgroups' | 'memory' | 'node' | 'engine' | 'statuses' | 'clock' | 'folded'>;

/**
 * What a container's memory is set to on cgroup v2 besides its limit: whether it is killed whole, how much swap it may use, and with the feature
 * MemoryQoS what the kernel leaves to it and when it slows it down (generateLinuxContainerResources in pkg/kubelet/kuberuntime).
 */
export function capability(parts: MemoryNeeds, proc = '/proc'): Contribution {
  const { cgroups, engine, statuses, clock, folded: log } = parts;
  for (const fault of withoutEffect(parts)) log.warn('an option has no effect on this machine', fault);
  if (cgroups.version !== 2) return {};
  const node = limitingNode(parts);
  const known = new Map<PodUid, { readonly pod: Pod; readonly settings: ReadonlyMap<string, CgroupSettings> }>();
  const resized = new Subject<PodUid>();
  const memory = containerMemory({
    running: engine.running,
    cgroups,
    settings: (uid, container) => known.get(uid)?.settings.get(container),
    clock,
    log,
    proc,
  });
  const run = (signal: AbortSignal): Promise<void> => {
    const started = statuses.changes.pipe(
      filter(hasStarted),
      map(({ pod }) => pod.metadata.uid),
    );
    return drainInto<unknown>(
      // Rejects only when the agent stops, which ends the stream as well.
      merge(started, resized).pipe(coalesceMap((uids) => memory.set(new Set(uids), signal).catch(() => {}))),
      () => {},
      signal,
    );
  };
  const release = async (uid: PodUid): Promise<void> => void known.delete(uid);
  return {
    pod: {
      prepare: async (pod) => {
        const { uid } = pod.metadata;
        const before = known.get(uid);
        const settings = settingsOf(pod, node);
        const isNews = asText(settings) !== asText(before?.settings);
        known.set(uid, { pod, settings });
        if (isNews && instancesOf(statuses.get(uid)).size > 0) resized.next(uid);
        return undefined;
      },
      isPrepared: (pod) => known.get(pod.metadata.uid)?.pod === pod,
      tearDown: release,
      release,
    },
    services: [{ name: 'memory of containers', stage: 'followers', run }],
  };
}

/** What was asked for and cannot be here; a kubelet leaves it unsaid. */
function withoutEffect({ options, cgroups, memory }: MemoryNeeds): readonly Readonly<Record<'option' | 'because', string>>[] {
  const [swap, quality] = ['memorySwap.swapBehavior: LimitedSwap', 'feature gate MemoryQoS'];
  const limited = options.swapBehavior === 'LimitedSwap';
  if (cgroups.version !== 2) {
    const because = 'it takes cgroup v2';
    const hasQuality = featureGates(options.featureGates).isOn('MemoryQoS');
    return [...(limited ? [{ option: swap, because }] : []), ...(hasQuality ? [{ option: quality, because }] : [])];
  }
  return limited && !memory.limitsSwap ? [{ option: swap, because: 'the kernel cannot limit swap: there is no memory.swap.max' }] : [];
}

function limitingNode({ options, cgroups, memory, node: { resources } }: MemoryNeeds): LimitingNode {
  const allocatable = absoluteAllocatable(resources.capacity(), reservedResources(options));
  return {
    ...swapRules(options, cgroups, memory),
    allocatableMemory: Number(Quantity.fromJson(allocatable['memory']).value()),
    cpuCfsQuota: options.cpuCfsQuota,
    cpuCfsQuotaPeriodUs: Math.round(options.cpuCfsQuotaPeriodMs * 1000),
    singleProcessOomKill: options.singleProcessOomKill ?? false,
    memoryQos: featureGates(options.featureGates).isOn('MemoryQoS'),
    memoryReservationPolicy: options.memoryReservationPolicy === 'TieredReservation' ? 'TieredReservation' : 'None',
    memoryThrottlingFactor: options.memoryThrottlingFactor,
    hugePageSizes: [],
  };
}

function settingsOf(pod: Pod, node: LimitingNode): ReadonlyMap<string, CgroupSettings> {
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  const all = [...initContainers, ...containers, ...ephemeralContainers];
  return new Map(all.map((container) => [container.name, containerLinuxResources(pod, container, node).unified]));
}

const asText = (settings: ReadonlyMap<string, CgroupSettings> | undefined): string => JSON.stringify([...(settings ?? [])]);

/** Whether the status shows a container running that did not run before, also one that was started again. */
function hasStarted({ status, previous }: StatusChange): boolean {
  const before = instancesOf(previous);
  return [...instancesOf(status)].some((instance) => !before.has(instance));
}

function instancesOf(status: PodStatus | undefined): ReadonlySet<string> {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
  return new Set(
    all.flatMap(({ containerID, state }) =>
      state?.running && containerID !== undefined ? [`${containerID} ${state.running.startedAt ?? ''}`] : [],
    ),
  );
}
