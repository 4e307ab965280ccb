import type { ContainerStatus, Pod, PodStatus } from '../../model/pod.ts';

export interface PodVerdict {
  readonly up: boolean;
  readonly why: string;
}

/** Waiting reasons that are part of every start. */
const starting: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/** Whether a pod has come up, or why it will not by itself; undefined while it is on its way. */
export function podVerdict(pod: Pod, status: PodStatus): PodVerdict | undefined {
  if (status.phase === 'Succeeded') return { up: true, why: 'completed' };
  const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  if (status.phase === 'Failed')
    return { up: false, why: [status.reason, status.message, ...containers.map(exit)].filter(Boolean).join(': ') };
  for (const { name, state } of containers) {
    const { reason = '', message } = state?.waiting ?? {};
    if (reason !== '' && !starting.has(reason))
      return { up: false, why: [`container ${name}`, reason, message].filter(Boolean).join(': ') };
  }
  const running = (status.containerStatuses ?? []).filter(({ state }) => state?.running);
  return running.length > 0 && running.length === pod.spec.containers.length ? { up: true, why: 'running' } : undefined;
}

function exit({ name, state }: ContainerStatus): string | undefined {
  const { exitCode, reason } = state?.terminated ?? {};
  return exitCode === undefined || exitCode === 0 ? undefined : `container ${name} exited with ${exitCode}${reason ? ` (${reason})` : ''}`;
}
