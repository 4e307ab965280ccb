import { containerHash } from '../../../src/model/container-hash.ts';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import type { ProbeResult } from '../../../src/model/probe-result.ts';
import type { ContainerId, ContainerState, ObservedContainer, SandboxId } from '../../../src/ports/container-runtime.ts';
import { computePodActions } from '../../../src/agent/reconcile/compute-pod-actions.ts';

interface In {
  readonly pod: Pod;
  readonly sandboxes?: readonly {
    readonly id: string;
    readonly state: string;
    readonly attempt?: number;
    readonly ip?: string;
    readonly network?: string;
  }[];
  readonly containers?: readonly {
    readonly id: string;
    readonly name: string;
    readonly state: ContainerState['phase'];
    readonly exitCode?: number;
    readonly hash?: string;
    readonly liveness?: string;
    readonly startup?: string;
  }[];
}

const stateOf = (phase: ContainerState['phase'], exitCode = 0): ContainerState => {
  if (phase === 'exited')
    return { phase, startedAtMs: 0, finishedAtMs: 0, exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', message: '' };
  return phase === 'running' ? { phase, startedAtMs: 0 } : { phase };
};

export const run = ({ pod, sandboxes = [], containers = [] }: In): unknown => {
  const specs = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])];
  const result = (probe: 'liveness' | 'startup') => (id: ContainerId) =>
    containers.find((container) => container.id === id)?.[probe]?.toLowerCase() as ProbeResult | undefined;
  const observed = {
    uid: 'u' as PodUid,
    name: pod.metadata.name,
    namespace: pod.metadata.namespace,
    sandboxes: sandboxes.map(({ id, state, attempt = 0, ip, network }) => ({
      id: id as SandboxId,
      attempt,
      createdAtMs: 0,
      ready: state === 'READY',
      network: network === 'NODE' ? ('node' as const) : ('pod' as const),
      ips: ip ? [ip] : [],
    })),
    containers: containers.map(({ id, name, state, exitCode, hash }): ObservedContainer => {
      const spec = specs.find((container) => container.name === name);
      return {
        id: id as ContainerId,
        name,
        image: '',
        imageId: '',
        specHash: hash !== 'mismatch' && spec ? containerHash(spec) : 'another',
        attempt: 0,
        createdAtMs: 0,
        state: stateOf(state, exitCode),
      };
    }),
  };
  const actions = computePodActions(pod, observed, { liveness: result('liveness'), startup: result('startup') });
  return {
    killPod: actions.killPod,
    createSandbox: actions.createSandbox,
    sandboxID: actions.sandboxId ?? '',
    sandboxAttempt: actions.sandboxAttempt,
    nextInitContainerToStart: actions.initContainersToStart[0]?.name ?? null,
    containersToStart: actions.containersToStart.map(({ name }) => name),
    containersToKill: actions.containersToKill
      .map(({ id, name, message }) => ({ id, name, message }))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
};
