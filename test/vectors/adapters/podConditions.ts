import type { ContainerStatus, PodCondition, PodSpec } from '../../../src/model/pod.ts';
import { containersReadyCondition, podInitializedCondition, podReadyCondition } from '../../../src/model/pod-conditions.ts';

interface In {
  readonly spec: PodSpec;
  readonly phase: string;
  readonly containerStatuses?: readonly ContainerStatus[] | null;
  readonly initContainerStatuses?: readonly ContainerStatus[] | null;
  readonly conditions?: readonly PodCondition[];
}

/** A Go nil is null or absent; `ready` is false where it is absent. */
const known = (statuses: readonly ContainerStatus[] | null | undefined): readonly ContainerStatus[] | undefined =>
  statuses?.map((status) => ({ ...status, ready: status.ready ?? false }));

export const run = (input: In): unknown => {
  const spec = { ...input.spec, containers: input.spec.containers ?? [] };
  const statuses = known(input.containerStatuses);
  // A required field of Go is written even when it is empty.
  const conditions = input.conditions?.map((condition) => ({ ...condition, status: condition.status ?? '' }));
  return {
    ready: podReadyCondition(spec, conditions, statuses, input.phase),
    containersReady: containersReadyCondition(spec, statuses, input.phase),
    initialized: podInitializedCondition(spec, known(input.initContainerStatuses), input.phase),
  };
};
