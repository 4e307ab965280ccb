import type { Container, Pod, PodSpec } from './pod.ts';

/** The part of a container's state that decides. */
export type RestartableState =
  | { readonly phase: 'created' | 'running' | 'unknown' }
  | { readonly phase: 'exited'; readonly exitCode: number };

/** What a container is to do about its exit code, where one of its rules says so: the first that matches (FindMatchingContainerRestartRule). */
export function restartActionFor({ restartPolicyRules = [] }: Container, exitCode: number): string | undefined {
  const rule = restartPolicyRules.find(({ exitCodes }) => {
    const among = exitCodes?.values?.includes(exitCode) ?? false;
    return exitCodes?.operator === 'In' ? among : exitCodes?.operator === 'NotIn' && !among;
  });
  return rule?.action;
}

/**
 * Whether a container that ended with this code is to run again: by the rules of the container, then its own policy, then the pod's
 * (ContainerShouldRestart in pkg/api/v1/pod). Rules count only beside a policy.
 */
export function restartsAfter(spec: Pick<PodSpec, 'restartPolicy'>, container: Container, exitCode: number): boolean {
  const action = container.restartPolicy === undefined ? undefined : restartActionFor(container, exitCode);
  if (action === 'Restart' || action === 'RestartAllContainers') return true;
  for (const policy of [container.restartPolicy, spec.restartPolicy]) {
    if (policy === 'Always') return true;
    if (policy === 'OnFailure') return exitCode !== 0;
    if (policy === 'Never') return false;
  }
  return true;
}

/**
 * Whether a container may ever run again where no exit code decides: after a probe that failed, or an end that was not seen
 * (IsContainerRestartable in pkg/api/v1/pod). Rules count whatever their exit codes.
 */
export function mayRestart(spec: Pick<PodSpec, 'restartPolicy'>, { restartPolicy, restartPolicyRules = [] }: Container): boolean {
  if (restartPolicy === undefined) return spec.restartPolicy !== 'Never';
  return restartPolicy !== 'Never' || restartPolicyRules.some(({ action }) => action === 'Restart');
}

/** Whether the end of one of the pod's containers may restart all of them (AllContainersCouldRestart in pkg/api/v1/pod). */
export function mayRestartAll({ initContainers = [], containers }: PodSpec): boolean {
  return [...initContainers, ...containers].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  );
}

/**
 * Whether an app container or a plain init container is to be started, by the state of its newest instance (undefined: there is none).
 * ShouldContainerBeRestarted in pkg/kubelet/container/helpers.go.
 */
export function shouldRestartContainer(pod: Pod, container: Container, newest: RestartableState | undefined): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  if (newest === undefined) return true;
  switch (newest.phase) {
    case 'running':
      return false;
    case 'created':
    case 'unknown':
      return true;
    case 'exited':
      return restartsAfter(pod.spec, container, newest.exitCode);
    default:
      return newest satisfies never;
  }
}
