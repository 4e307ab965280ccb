import { errorText } from '../../base/error-text.ts';
import { ContainerStartError } from '../../model/container-start-error.ts';
import { expandAll, lookupIn } from '../../model/expansion.ts';
import type { Container, Pod } from '../../model/pod.ts';
import type { ContainerSpec } from '../../ports/container-runtime.ts';
import { containerEnv, type ContainerEnvFacts } from './container-env.ts';
import { imageMounts } from './image-volumes.ts';
import type { AllContainerAdditions } from './pod-participants.ts';

/** What a container may ask of its surroundings. */
export interface ContainerSpecFacts extends ContainerEnvFacts {
  /** What the participants in pods' lives give the container, by the environment that its own spec gives it. */
  readonly additions: (env: ReadonlyMap<string, string>) => Promise<AllContainerAdditions>;
}

export interface ContainerMade {
  readonly attempt: number;
  readonly imageRef: string;
  /** What the engine calls the images that it is to mount, by volume; undefined: it mounts none. */
  readonly imageVolumes?: ReadonlyMap<string, string> | undefined;
}

/** Resolves a container's environment, command and arguments. Rejects with CreateContainerConfigError where a reference leads nowhere. */
export async function containerSpec(
  pod: Pod,
  container: Container,
  { attempt, imageRef, imageVolumes }: ContainerMade,
  signal: AbortSignal,
  facts: ContainerSpecFacts,
): Promise<ContainerSpec> {
  const own = await orConfigError(signal, () => containerEnv(pod, container, facts, signal));
  const { env, ...additions } = await facts.additions(own);
  const { command, args } = await orConfigError(signal, async () => expanded(container, env));
  const images = await orConfigError(signal, async () => (imageVolumes ? imageMounts(pod, container, imageVolumes, env) : []));
  return {
    container,
    attempt,
    imageRef,
    env: [...env].map(([name, value]) => ({ name, value })),
    command,
    args,
    ...additions,
    ...(images.length > 0 && { imageMounts: images }),
  };
}

function expanded(container: Container, env: ReadonlyMap<string, string>): Pick<ContainerSpec, 'command' | 'args'> {
  const lookup = lookupIn(env);
  // An empty list is none: the image's own command holds.
  const expand = (parts: readonly string[] | undefined): readonly string[] | undefined =>
    parts?.length ? expandAll(parts, lookup) : undefined;
  return { command: expand(container.command), args: expand(container.args) };
}

async function orConfigError<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw new ContainerStartError('CreateContainerConfigError', errorText(error), { cause: error });
  }
}
