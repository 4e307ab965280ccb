import { containerResourceByName } from '../model/container-resource.ts';
import { ContainerStartError } from '../model/container-start-error.ts';
import { errorText } from '../base/error-text.ts';
import { expand } from '../model/expansion.ts';
import { extractFieldPath } from '../model/field-path.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { ContainerSpec, Mount } from '../ports/container-runtime.ts';

type EnvVar = NonNullable<Container['env']>[number];

/** What a container's environment may ask of its surroundings. */
export interface ContainerSpecFacts {
  /** The pod's addresses, primary first; asked for only where the environment needs them. */
  readonly podIps: () => Promise<readonly string[]>;
  readonly hostIp: string | undefined;
  readonly mounts: readonly Mount[];
}

/**
 * Resolves a container's environment, command and arguments. Rejects with CreateContainerConfigError where a reference leads nowhere,
 * in words that name the variable.
 */
export async function containerSpec(
  pod: Pod,
  container: Container,
  attempt: number,
  imageRef: string,
  facts: ContainerSpecFacts,
): Promise<ContainerSpec> {
  const values = new Map<string, string>();
  const lookup = (name: string): string | undefined => values.get(name);
  for (const source of container.envFrom ?? []) {
    const kind = source.configMapRef ? 'configMapRef' : 'secretRef';
    throw new ContainerStartError('CreateContainerConfigError', `container ${container.name}: envFrom ${kind} is not supported yet`);
  }
  for (const variable of container.env ?? []) {
    const value = variable.valueFrom ? await valueFrom(pod, container, variable, facts) : expand(variable.value ?? '', lookup);
    values.set(variable.name, value);
  }
  return {
    container,
    attempt,
    imageRef,
    env: [...values].map(([name, value]) => ({ name, value })),
    command: container.command?.map((part) => expand(part, lookup)),
    args: container.args?.map((part) => expand(part, lookup)),
    mounts: facts.mounts,
  };
}

async function valueFrom(pod: Pod, container: Container, { name, valueFrom: from }: EnvVar, facts: ContainerSpecFacts): Promise<string> {
  try {
    if (from?.fieldRef) return await fieldValue(pod, from.fieldRef.fieldPath, facts);
    if (from?.resourceFieldRef) {
      return containerResourceByName(from.resourceFieldRef, pod, from.resourceFieldRef.containerName || container.name);
    }
  } catch (error) {
    throw new ContainerStartError('CreateContainerConfigError', `environment variable ${name}: ${errorText(error)}`, { cause: error });
  }
  const kind = Object.keys(from ?? {})[0] ?? 'valueFrom';
  throw new ContainerStartError('CreateContainerConfigError', `environment variable ${name}: ${kind} is not supported yet`);
}

/** Fields that are not in the pod's metadata (podFieldSelectorRuntimeValue in pkg/kubelet/kubelet_pods.go). */
async function fieldValue(pod: Pod, path: string, { podIps, hostIp }: ContainerSpecFacts): Promise<string> {
  switch (path) {
    case 'spec.nodeName':
      return pod.spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return pod.spec.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIp ?? '';
    case 'status.podIP':
      return (await podIps())[0] ?? '';
    case 'status.podIPs':
      return (await podIps()).join(',');
    default:
      return extractFieldPath(pod, path);
  }
}
