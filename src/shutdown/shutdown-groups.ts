import type { Pod } from '../model/pod.ts';
import type { GraceOfPriority } from './shutdown-table.ts';

export interface PodInGroup {
  readonly pod: Pod;
  /** The group's time, or the pod's own where that is shorter. */
  readonly graceSeconds: number;
}

export interface ShutdownGroup extends GraceOfPriority {
  readonly pods: readonly PodInGroup[];
}

/**
 * In the order in which they end, groups without pods included. A pod belongs to the highest entry that is not above its priority, and to the
 * lowest where all are (groupByPriority in pkg/kubelet/nodeshutdown).
 */
export function shutdownGroups(table: readonly GraceOfPriority[], pods: readonly Pod[]): readonly ShutdownGroup[] {
  const groupOf = ({ spec: { priority = 0 } }: Pod): GraceOfPriority | undefined =>
    table.find((entry) => entry.priority === priority) ?? table.findLast((entry) => entry.priority < priority) ?? table[0];
  const members = Map.groupBy(pods, groupOf);
  return table.map((entry) => ({
    ...entry,
    pods: (members.get(entry) ?? []).map((pod) => ({
      pod,
      graceSeconds: Math.min(entry.seconds, pod.spec.terminationGracePeriodSeconds ?? entry.seconds),
    })),
  }));
}
