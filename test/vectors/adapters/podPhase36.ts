import type { ContainerStatus, Pod } from '../../../src/model/pod.ts';
import { podPhase } from '../../../src/agent/status/pod-phase.ts';

interface In {
  readonly pod: Pod;
  readonly statuses?: readonly ContainerStatus[];
  readonly podIsTerminal?: boolean;
  readonly podHasInitialized?: boolean;
}

export const run = ({ pod, statuses = [], podIsTerminal: ending, podHasInitialized: initialized }: In): unknown =>
  podPhase(pod, statuses, { ending, initialized });
