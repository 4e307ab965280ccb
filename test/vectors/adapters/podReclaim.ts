import { containersAreTerminal, isPodDeleted, isPodTerminated } from '../../../src/model/pod-termination.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { whyNotReclaimed } from '../../../src/mirror/pod-reclaim.ts';

interface Input {
  readonly pod: Pod;
  readonly known: boolean;
  readonly runtimeContainers: number;
  readonly runtimeSandboxes: number;
  readonly runtimeError: boolean;
  readonly mountedVolumes: boolean;
  readonly keepTerminatedPodVolumes: boolean;
  readonly cgroupsPerQOS: boolean;
  readonly cgroupExists: boolean;
}

export function run(input: Input): unknown {
  const { pod, known } = input;
  const status = pod.status ?? {};
  return {
    // An engine that cannot be asked makes the asking fail, and with it the deletion.
    reclaimed: !input.runtimeError && whyNotReclaimed(status, remainsOf(input)) === undefined,
    // A pod that nobody knows any more is over.
    terminated: !known || isPodTerminated(pod, status),
    deleted: !known || isPodDeleted(pod, status),
    containersTerminal: containersAreTerminal(status),
    podWorkerTerminal: isPodTerminated(pod, status),
  };
}

function remainsOf(input: Input): Parameters<typeof whyNotReclaimed>[1] {
  return {
    containers: input.runtimeContainers,
    sandboxes: input.runtimeSandboxes,
    others: [
      ...(input.mountedVolumes && !input.keepTerminatedPodVolumes ? ['volumes'] : []),
      ...(input.cgroupsPerQOS && input.cgroupExists ? ['cgroup'] : []),
    ],
  };
}
