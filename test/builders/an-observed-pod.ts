import { containerHash } from '../../src/model/container-hash.ts';
import type { Pod } from '../../src/model/pod.ts';
import type {
  ContainerId,
  ContainerState,
  ObservedContainer,
  ObservedPod,
  ObservedSandbox,
  SandboxId,
} from '../../src/ports/container-runtime.ts';

/** When the engine's story begins in tests. */
export const bootMs = 1_600_000_000_000;

/** A pod as the engine has it: nothing, unless told. Lists are newest first. */
export function anObservedPod(pod: Pod, over: Partial<Pick<ObservedPod, 'sandboxes' | 'containers'>> = {}): ObservedPod {
  const { uid, name, namespace } = pod.metadata;
  return { uid, name, namespace, sandboxes: [], containers: [], ...over };
}

/** A ready sandbox. */
export function aSandbox(over: Partial<ObservedSandbox> = {}): ObservedSandbox {
  const attempt = over.attempt ?? 0;
  return {
    id: `sandbox-${attempt}` as SandboxId,
    attempt,
    createdAtMs: bootMs + attempt * 1000,
    ready: true,
    network: 'pod',
    ips: ['10.0.0.2'],
    ...over,
  };
}

/** An instance of a container of the pod, made from its spec as it is; running unless told. */
export function anInstance(pod: Pod, name: string, over: Partial<ObservedContainer> = {}): ObservedContainer {
  const attempt = over.attempt ?? 0;
  const spec = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find((container) => container.name === name);
  return {
    id: `${name}-${attempt}` as ContainerId,
    name,
    image: 'busybox:1.35',
    imageId: 'docker://sha256:1',
    specHash: spec ? containerHash(spec) : 'none',
    attempt,
    createdAtMs: bootMs + 10 + attempt,
    state: { phase: 'running', startedAtMs: bootMs + 20 },
    ...over,
  };
}

export function exited(exitCode: number, finishedAtMs = bootMs + 500): ContainerState {
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return { phase: 'exited', startedAtMs: bootMs + 20, finishedAtMs, exitCode, reason, message: '' };
}
