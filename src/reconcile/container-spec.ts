import { errorText } from '../base/error-text.ts';
import { ContainerStartError } from '../model/container-start-error.ts';
import { expand, lookupIn } from '../model/expansion.ts';
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
  let values: ReadonlyMap<string, string>;
  try {
    values = await containerEnv(pod, container, facts, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new ContainerStartError('CreateContainerConfigError', errorText(error), { cause: error });
  }
  const lookup = lookupIn(values);
  // An empty list is none: the image's own command holds.
  const expanded = (parts: readonly string[] | undefined): readonly string[] | undefined =>
    parts?.length ? parts.map((part) => expand(part, lookup)) : undefined;
  return {
    container,
    attempt,
    imageRef,
    env: [...values].map(([name, value]) => ({ name, value })),
    command: expanded(container.command),
    args: expanded(container.args),
    mounts: await facts.mounts(values),
  };
}
