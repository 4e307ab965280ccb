import type { Container, Pod } from './pod.ts';

/** Fields of pods that a feature gate can take away. */
export interface PodFieldGates {
  /** `fileKeyRef` of variables (gate EnvFiles). */
  readonly envFiles: boolean;
  /** `restartPolicy` of containers that are no sidecars, and `restartPolicyRules` (gate ContainerRestartRules). */
  readonly containerRestartRules: boolean;
}

export const allPodFields: PodFieldGates = { envFiles: true, containerRestartRules: true };

/**
 * A pod of an API server whose gates say otherwise, as a kubelet takes it: a container restarts by the pod's policy, as if it had none of its
 * own (ShouldContainerBeRestarted in pkg/kubelet/container), and a variable from a file is empty (makeEnvironmentVariables). The same object
 * where it has no such field.
 */
export function withoutGatedFields(pod: Pod, gates: PodFieldGates): Pod {
  const { containers, initContainers, ephemeralContainers } = pod.spec;
  const trimmed = {
    containers: trimEach(containers, (container) => trim(container, gates, false)),
    ...(initContainers && { initContainers: trimEach(initContainers, (container) => trim(container, gates, true)) }),
    ...(ephemeralContainers && { ephemeralContainers: trimEach(ephemeralContainers, (container) => trimEnv(container, gates)) }),
  };
  const isWhole =
    trimmed.containers === containers && trimmed.initContainers === initContainers && trimmed.ephemeralContainers === ephemeralContainers;
  return isWhole ? pod : { ...pod, spec: { ...pod.spec, ...trimmed } };
}

function trimEach<C>(containers: readonly C[], each: (container: C) => C): readonly C[] {
  const trimmed = containers.map(each);
  return trimmed.every((container, index) => container === containers[index]) ? containers : trimmed;
}

function trim(container: Container, gates: PodFieldGates, isInit: boolean): Container {
  const { restartPolicy, restartPolicyRules, ...rest } = container;
  const isSidecar = isInit && restartPolicy === 'Always';
  const hasRules = (restartPolicy !== undefined && !isSidecar) || restartPolicyRules !== undefined;
  const ruled = gates.containerRestartRules || !hasRules ? container : { ...rest, ...(isSidecar && { restartPolicy }) };
  return trimEnv(ruled, gates);
}

function trimEnv<C extends Pick<Container, 'env'>>(container: C, { envFiles }: PodFieldGates): C {
  const { env } = container;
  if (envFiles || !env?.some(({ valueFrom }) => valueFrom?.fileKeyRef !== undefined)) return container;
  return {
    ...container,
    env: env.map((variable) => (variable.valueFrom?.fileKeyRef === undefined ? variable : { name: variable.name, value: '' })),
  };
}
