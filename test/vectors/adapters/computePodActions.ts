import { computePodActions } from '../../../src/agent/reconcile/compute-pod-actions.ts';
import { containerHash } from '../../../src/model/container-hash.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { type GivenContainer, type GivenSandbox, observedPod, probeResults } from '../observed-pod.ts';

interface In {
  readonly pod: Pod;
  readonly sandboxes?: readonly GivenSandbox[];
  readonly containers?: readonly (GivenContainer & { readonly hash?: string; readonly liveness?: string; readonly startup?: string })[];
}

export const run = ({ pod, sandboxes = [], containers = [] }: In): unknown => {
  const specs = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])];
  const result = (probe: 'liveness' | 'startup') => probeResults(Object.fromEntries(containers.map((one) => [one.id, one[probe]])));
  const observed = observedPod(pod.metadata, sandboxes, containers, ({ name, hash }) => {
    const spec = specs.find((container) => container.name === name);
    return { specHash: hash !== 'mismatch' && spec ? containerHash(spec) : 'another' };
  });
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
