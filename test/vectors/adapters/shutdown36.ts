import type { Pod, PodUid } from '../../../src/model/pod.ts';
import { shutdownGroups } from '../../../src/shutdown/shutdown-groups.ts';
import { secondsIn, shutdownTable } from '../../../src/shutdown/shutdown-table.ts';

interface In {
  readonly shutdownGracePeriodMs: number;
  readonly shutdownGracePeriodCriticalPodsMs: number;
  readonly byPriority: readonly { readonly priority: number; readonly seconds: number }[] | null;
  readonly pods: readonly { readonly name: string; readonly priority?: number; readonly grace?: number }[] | null;
}

export function run({ byPriority, pods, ...periods }: In): unknown {
  const written = (byPriority ?? []).map(({ priority, seconds }) => ({ priority, shutdownGracePeriodSeconds: seconds }));
  const table = shutdownTable({ ...periods, shutdownGracePeriodByPodPriority: written });
  const groups = shutdownGroups(table, (pods ?? []).map(aPod));
  return {
    table,
    requestedSec: secondsIn(table),
    groups: groups.map((group) => ({
      ...group,
      pods: group.pods.map(({ pod, graceSeconds }) => ({ name: pod.metadata.name, grace: graceSeconds })),
    })),
  };
}

const aPod = ({ name, priority, grace }: NonNullable<In['pods']>[number]): Pod => ({
  metadata: { name, namespace: 'default', uid: name as PodUid },
  spec: {
    containers: [],
    ...(priority !== undefined && { priority }),
    ...(grace !== undefined && { terminationGracePeriodSeconds: grace }),
  },
});
