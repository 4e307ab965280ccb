import { containerHash } from '../../model/container-hash.ts';
import { effectiveResources } from '../../model/effective-resources.ts';
import type { Container, Pod } from '../../model/pod.ts';
import type { ContainerId, ContainerState, ObservedContainer, ObservedPod, SandboxId } from '../../ports/container-runtime.ts';
import type { ActuatedResources } from '../../ports/pod-plan.ts';

/** The pod as an engine has it when all of it runs as it is declared: initialized, and up. */
export function observedAsDeclared(pod: Pod): ObservedPod {
  const { uid, name, namespace } = pod.metadata;
  const { initContainers = [], containers, hostNetwork } = pod.spec;
  const sandboxId = 'sandbox' as SandboxId;
  const instance = (container: Container, state: ContainerState): ObservedContainer => ({
    id: container.name as ContainerId,
    name: container.name,
    image: container.image ?? '',
    imageId: '',
    specHash: containerHash(container),
    attempt: 0,
    sandboxId,
    createdAtMs: 0,
    state,
  });
  const running: ContainerState = { phase: 'running', startedAtMs: 0 };
  const done: ContainerState = { phase: 'exited', startedAtMs: 0, finishedAtMs: 0, exitCode: 0, reason: 'Completed', message: '' };
  return {
    uid,
    name,
    namespace,
    sandboxes: [{ id: sandboxId, attempt: 0, createdAtMs: 0, ready: true, network: hostNetwork ? 'node' : 'pod', ips: ['192.0.2.1'] }],
    containers: [
      ...containers.map((container) => instance(container, running)),
      ...initContainers.map((container) => instance(container, container.restartPolicy === 'Always' ? running : done)),
    ],
  };
}

/** What its containers run with, when they run as declared. */
export function actuatedAsDeclared(pod: Pod): ActuatedResources {
  const all = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const given = new Map(all.map((container) => [container.name, effectiveResources(pod, container)]));
  return { container: (name) => given.get(name), pod: undefined };
}
