import type { Container, Pod, PodUid } from '../../../src/model/pod.ts';
import type { ContainerId, ContainerState, ObservedContainer } from '../../../src/ports/container-runtime.ts';
import { RestartBackoff } from '../../../src/agent/reconcile/restart-backoff.ts';

interface Step {
  readonly atMs: number;
  readonly image?: string;
  readonly containers?: readonly { readonly state: ContainerState['phase']; readonly finishedAtMs?: number }[];
}

const stateOf = (phase: ContainerState['phase'], finishedAtMs = 0): ContainerState => {
  if (phase === 'exited') return { phase, startedAtMs: undefined, finishedAtMs, exitCode: 1, reason: 'Error', message: '' };
  return phase === 'running' ? { phase, startedAtMs: 0 } : { phase };
};

export const run = ({ steps }: { readonly steps: readonly Step[] }): unknown => {
  let nowMs = 0;
  const backoff = new RestartBackoff({ now: () => nowMs, monotonicMs: () => nowMs });
  return steps.map(({ atMs, image = 'img', containers = [] }) => {
    nowMs = atMs;
    const container: Container = { name: 'c', image };
    const pod: Pod = { metadata: { name: 'web', namespace: 'ns', uid: 'u' as PodUid }, spec: { containers: [container] } };
    const observed = containers.map(({ state, finishedAtMs }, index): ObservedContainer => ({
      id: `c-${index}` as ContainerId,
      name: 'c',
      image,
      imageId: '',
      specHash: '',
      attempt: 0,
      createdAtMs: 0,
      state: stateOf(state, finishedAtMs),
    }));
    const at = { uid: pod.metadata.uid, containers: observed };
    backoff.seen(at);
    if (backoff.hold(pod, container, at) !== undefined) {
      return { backoff: true, message: backoff.message(pod, container) };
    }
    backoff.started(pod, container, at);
    return { backoff: false };
  });
};
