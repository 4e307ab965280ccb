import { containerHash } from '../../../src/model/container-hash.ts';
import type { Pod, PodSpec, PodUid } from '../../../src/model/pod.ts';
import type { ProbeResult } from '../../../src/model/probe-result.ts';
import type { ContainerId, ContainerState, ObservedContainer, SandboxId } from '../../../src/ports/container-runtime.ts';
import { computePodActions } from '../../../src/agent/reconcile/compute-pod-actions.ts';

type Requirements = PodSpec['resources'];

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
  readonly restartAllContainers?: boolean;
  readonly actuated?: Readonly<Record<string, Requirements | 'missing'>>;
  readonly actuatedPod?: Requirements | 'missing';
}

const stateOf = (phase: ContainerState['phase'], exitCode = 0): ContainerState => {
  if (phase === 'exited') return { phase, startedAtMs: 0, finishedAtMs: 0, exitCode, reason: '', message: '' };
  return phase === 'running' ? { phase, startedAtMs: 0 } : { phase };
};
const known = (recorded: Requirements | 'missing'): Requirements => (recorded === 'missing' ? undefined : recorded);

export const run = ({ pod, sandboxes = [], containers = [], restartAllContainers, actuated = {}, actuatedPod }: In): unknown => {
  const specs = [...pod.spec.containers, ...(pod.spec.initContainers ?? []), ...(pod.spec.ephemeralContainers ?? [])];
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
  const actions = computePodActions(pod, observed, {
    liveness: result('liveness'),
    startup: result('startup'),
    restartAllContainers,
    actuated: {
      container: (name) =>
        Object.hasOwn(actuated, name) ? known(actuated[name]) : specs.find((container) => container.name === name)?.resources,
      pod: actuatedPod === undefined ? pod.spec.resources : known(actuatedPod),
    },
  });
  const names = (some: readonly { readonly name: string }[]): readonly string[] => some.map(({ name }) => name);
  const updates = Object.entries(actions.containersToUpdate).filter(([, some]) => some.length > 0);
  return {
    killPod: actions.killPod,
    createSandbox: actions.createSandbox,
    sandboxID: actions.sandboxId ?? '',
    sandboxAttempt: actions.sandboxAttempt,
    initContainersToStart: names(actions.initContainersToStart),
    containersToStart: names(actions.containersToStart),
    ephemeralContainersToStart: actions.ephemeralContainersToStart.length > 0 ? names(actions.ephemeralContainersToStart) : null,
    containersToKill: actions.containersToKill
      .map(({ id, name, message, reason = '' }) => ({ id, name, message, reason }))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
    containersToUpdate: updates.length > 0 ? Object.fromEntries(updates) : null,
    containersToReset: actions.containersToReset.length > 0 ? actions.containersToReset : null,
    updatePodResources: actions.updatePodResources || null,
    updatePodLevelResources: actions.updatePodLevelResources || null,
  };
};
