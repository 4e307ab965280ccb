import { errorText } from '../base/error-text.ts';
import { ContainerStartError } from '../model/container-start-error.ts';
import { expandAll, lookupIn } from '../model/expansion.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { ContainerSpec, Mount } from '../ports/container-runtime.ts';
import { containerEnv, type ContainerEnvFacts } from './container-env.ts';

/** What a container may ask of its surroundings. */
export interface ContainerSpecFacts extends ContainerEnvFacts {
  /** What the container mounts; a path may name variables of its environment. */
  readonly mounts: (env: ReadonlyMap<string, string>) => Promise<readonly Mount[]>;
}

/** Resolves a container's environment, command and arguments. Rejects with CreateContainerConfigError where a reference leads nowhere. */
export async function containerSpec(
  pod: Pod,
  container: Container,
  attempt: number,
  imageRef: string,
  facts: ContainerSpecFacts,
  signal: AbortSignal,
): Promise<ContainerSpec> {
  const { values, command, args } = await resolved(pod, container, facts, signal);
  return {
    container,
    attempt,
    imageRef,
    env: [...values].map(([name, value]) => ({ name, value })),
    command,
    args,
    mounts: await facts.mounts(values),
  };
}

type Resolved = Pick<ContainerSpec, 'command' | 'args'> & { readonly values: ReadonlyMap<string, string> };

async function resolved(pod: Pod, container: Container, facts: ContainerEnvFacts, signal: AbortSignal): Promise<Resolved> {
  try {
    const values = await containerEnv(pod, container, facts, signal);
    const lookup = lookupIn(values);
    // An empty list is none: the image's own command holds.
    const expanded = (parts: readonly string[] | undefined): readonly string[] | undefined =>
      parts?.length ? expandAll(parts, lookup) : undefined;
    return { values, command: expanded(container.command), args: expanded(container.args) };
  } catch (error) {
    signal.throwIfAborted();
    throw new ContainerStartError('CreateContainerConfigError', errorText(error), { cause: error });
  }
}
