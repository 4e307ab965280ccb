/** How long pods of this priority and above, up to the next entry, have to end. */
export interface GraceOfPriority {
  readonly priority: number;
  readonly seconds: number;
}

export interface ShutdownGraces {
  readonly shutdownGracePeriodMs: number;
  readonly shutdownGracePeriodCriticalPodsMs: number;
  readonly shutdownGracePeriodByPodPriority: readonly { readonly priority?: number; readonly shutdownGracePeriodSeconds?: number }[];
}

/** pkg/apis/scheduling */
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/**
 * In ascending order of priority. What is written by priority, or else made of the two periods: critical pods have theirs, all others what is
 * before that. Empty: the shutdown of the machine waits for nothing (newPodManager and migrateConfig in pkg/kubelet/nodeshutdown).
 */
export function shutdownTable(graces: ShutdownGraces): readonly GraceOfPriority[] {
  const { shutdownGracePeriodMs: allMs, shutdownGracePeriodCriticalPodsMs: criticalMs, shutdownGracePeriodByPodPriority: written } = graces;
  if (written.length > 0) {
    const table = written.map(({ priority = 0, shutdownGracePeriodSeconds: seconds = 0 }) => ({ priority, seconds: Math.max(0, seconds) }));
    return table.toSorted((a, b) => a.priority - b.priority);
  }
  if (allMs === 0 || criticalMs < 0 || allMs < criticalMs) return [];
  return [
    { priority: 0, seconds: Math.trunc((allMs - criticalMs) / 1000) },
    { priority: SYSTEM_CRITICAL_PRIORITY, seconds: Math.trunc(criticalMs / 1000) },
  ];
}

/** What is asked of logind. */
export const secondsIn = (table: readonly GraceOfPriority[]): number => table.reduce((sum, { seconds }) => sum + seconds, 0);
