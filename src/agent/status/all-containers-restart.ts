import { mayRestartAll, restartActionFor } from '../../model/should-restart-container.ts';
import type { Container, Pod, PodCondition, PodStatus } from '../../model/pod.ts';
import type { ObservedPod } from '../../ports/container-runtime.ts';

const type = 'AllContainersRestarting';

type Containers = Pick<ObservedPod, 'containers'>;

const containersOf = ({ spec }: Pod): readonly Container[] => [...(spec.initContainers ?? []), ...spec.containers];

/** Whether the end of a container has asked for all to start again, and they have not yet (ShouldAllContainersRestart in pkg/kubelet/container). */
export function allContainersRestart(pod: Pod, { containers }: Containers, reported: PodStatus | undefined): boolean {
  if (!mayRestartAll(pod.spec)) return false;
  if (reported?.conditions?.some((condition) => condition.type === type && condition.status === 'True')) return true;
  const statuses = [...(reported?.initContainerStatuses ?? []), ...(reported?.containerStatuses ?? [])];
  return containersOf(pod).some((container) => {
    const asks = (exitCode: number): boolean => restartActionFor(container, exitCode) === 'RestartAllContainers';
    const newest = containers.find(({ name }) => name === container.name);
    if (newest?.state.phase !== 'exited') return false;
    if (asks(newest.state.exitCode)) return true;
    const ended = statuses.find(({ name }) => name === container.name)?.state?.terminated;
    return ended !== undefined && asks(ended.exitCode);
  });
}

/** Only where it may be so (GenerateAllContainersRestartingCondition in pkg/kubelet/status). */
export function allContainersRestartingCondition(
  pod: Pod,
  observed: Containers,
  restarting: boolean,
  phase: string | undefined,
): readonly PodCondition[] {
  if (!mayRestartAll(pod.spec)) return [];
  if (phase === 'Succeeded') return [{ type, status: 'False', reason: 'PodCompleted' }];
  if (phase === 'Failed') return [{ type, status: 'False', reason: 'PodFailed' }];
  const left = containersOf(pod).some((container) => observed.containers.some(({ name }) => name === container.name));
  if (!restarting || !left) return [{ type, status: 'False' }];
  return [{ type, status: 'True', reason: 'RestartAllContainersStarted', message: 'container exited with restart policy rule' }];
}
