import { computePodActions } from '../../../src/agent/reconcile/compute-pod-actions.ts';
import { containerHash } from '../../../src/model/container-hash.ts';
import type { Pod, PodSpec } from '../../../src/model/pod.ts';
import { type GivenContainer, type GivenSandbox, observedPod, probeResults } from '../observed-pod.ts';

type Requirements = PodSpec['resources'];

interface In {
  readonly pod: Pod;
  readonly sandboxes?: readonly GivenSandbox[];
  readonly containers?: readonly (GivenContainer & { readonly hash?: string; readonly liveness?: string; readonly startup?: string })[];
  readonly restartAllContainers?: boolean;
  readonly actuated?: Readonly<Record<string, Requirements | 'missing'>>;
  readonly actuatedPod?: Requirements | 'missing';
}

const known = (recorded: Requirements | 'missing'): Requirements => (recorded === 'missing' ? undefined : recorded);

export const run = ({ pod, sandboxes = [], containers = [], restartAllContainers, actuated = {}, actuatedPod }: In): unknown => {
  const specs = [...pod.spec.containers, ...(pod.spec.initContainers ?? []), ...(pod.spec.ephemeralContainers ?? [])];
  const result = (probe: 'liveness' | 'startup') => probeResults(Object.fromEntries(containers.map((one) => [one.id, one[probe]])));
  const observed = observedPod(pod.metadata, sandboxes, containers, ({ name, hash }) => {
    const spec = specs.find((container) => container.name === name);
    return { specHash: hash !== 'mismatch' && spec ? containerHash(spec) : 'another' };
  });
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
