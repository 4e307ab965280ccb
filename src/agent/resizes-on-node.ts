import { PREEMPTED, preemptedEnd } from '../model/preemption.ts';
import { mayUseSwap } from '../model/swap-limit.ts';
import { swapRules } from '../options/swap-rules.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { AgentState } from './agent-state.ts';
import { PodResizes } from './reconcile/pod-resizes.ts';
import { ResourceRecords } from './reconcile/resource-records.ts';

type Parts = Pick<NodeParts, 'options' | 'clock' | 'log' | 'cgroups' | 'memory' | 'podFiles' | 'node' | 'events' | 'tell'>;

/** What pods are given of this node, by its options, what it has, and what is known of its pods. */
export function resizesOnNode(
  { options, clock, log, cgroups, memory, podFiles, node, events, tell }: Parts,
  { pods, statuses, ends, wakes }: Omit<AgentState, 'resizes'>,
): PodResizes {
  const swap = swapRules(options, cgroups, memory);
  return new PodResizes({
    clock,
    pods,
    statuses,
    records: new ResourceRecords(podFiles, clock, log),
    rules: {
      get node() {
        return node.known();
      },
      staticCpus: options.cpuManagerPolicy === 'static',
      staticMemory: options.memoryManagerPolicy === 'Static',
      swaps: (pod, container) => mayUseSwap(pod, container, swap),
      preempt: (pod, [first]) => {
        events.record(pod, 'Warning', 'Preempting', PREEMPTED);
        ends.end(pod.metadata.uid, preemptedEnd);
        tell.podPreempted({ uid: pod.metadata.uid, signal: first?.resource ?? '' });
      },
      event: (pod, type, reason, message) => events.record(pod, type, reason, message),
    },
    tell,
    wake: wakes.wake,
  });
}
