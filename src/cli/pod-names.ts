import { isStaticPod } from '../model/mirror-pod.ts';
import type { Container, RawPod } from '../model/pod.ts';
import type { AgentClient } from './agent-client.ts';
import { CommandError } from './command-io.ts';

/** A pod as it is shown and asked for. */
export interface NamedPod {
  readonly name: string;
  readonly namespace: string;
  readonly pod: RawPod;
}

const DEFAULT_CONTAINERS = ['kubectl.kubernetes.io/default-container', 'kubectl.kubernetes.io/default-logs-container'];

/** The pods that should run here, by namespace and name. */
export async function listPods(agent: Pick<AgentClient, 'json'>): Promise<readonly NamedPod[]> {
  const list = await agent.json('/pods');
  if (!isPodList(list)) throw new CommandError("the agent's answer is not a list of pods");
  return list.items
    .map((pod) => ({ name: pod.metadata?.name ?? '', namespace: pod.metadata?.namespace ?? '', pod }))
    .toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
}

/**
 * The pod that POD or NAMESPACE/POD means: that very name, or that of a static pod without the node's name at its end. Throws when
 * there is none, or more than one.
 */
export function choosePod(pods: readonly NamedPod[], asked: string, namespace: string | undefined): NamedPod {
  const [, inName, name = ''] = /^(?:pods?\/)?(?:([^/]*)\/)?([^/]*)$/.exec(asked) ?? [];
  const wanted = inName ?? namespace;
  const here = pods.filter((pod) => wanted === undefined || pod.namespace === wanted);
  const exact = here.filter((pod) => pod.name === name);
  const found =
    exact.length > 0
      ? exact
      : here.filter(
          ({ name: full, pod }) => isStaticPod({ metadata: pod.metadata ?? {} }) && full === `${name}-${pod.spec?.nodeName ?? ''}`,
        );
  const [first, ...others] = found;
  if (!first)
    throw new CommandError(
      `pod ${JSON.stringify(asked)} is not on this node${wanted === undefined ? '' : ` in namespace ${wanted}`}; see 'rxlet ps'`,
    );
  if (others.length === 0) return first;
  throw new CommandError(`${JSON.stringify(asked)} could be ${found.map((pod) => `${pod.namespace}/${pod.name}`).join(' or ')}`);
}

/** The container that is asked for, else the pod's default one, else its first; `note` tells of a choice that was made. */
export function chooseContainer(
  { pod, name }: NamedPod,
  asked: string | undefined,
): { readonly container: string; readonly note?: string } {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec ?? {};
  const everyone: readonly Pick<Container, 'name'>[] = [...containers, ...ephemeralContainers, ...initContainers];
  const kinds = new Map<string, string>([
    ...initContainers.map((c) => [c.name, ' (init)'] as const),
    ...ephemeralContainers.map((c) => [c.name, ' (ephem)'] as const),
  ]);
  const names = everyone.map((container) => `${container.name}${kinds.get(container.name) ?? ''}`).join(', ');
  if (asked !== undefined) {
    if (everyone.some((container) => container.name === asked)) return { container: asked };
    throw new CommandError(`container ${asked} is not in pod ${name}; it has ${names}`);
  }
  const annotated = DEFAULT_CONTAINERS.map((key) => pod.metadata?.annotations?.[key]).find((value) =>
    everyone.some((container) => container.name === value),
  );
  const container = annotated ?? everyone[0]?.name;
  if (container === undefined) throw new CommandError(`pod ${name} has no containers`);
  return everyone.length === 1 || annotated !== undefined
    ? { container }
    : { container, note: `Defaulted container ${JSON.stringify(container)} out of: ${names}\n` };
}

function isPodList(value: unknown): value is { readonly items: readonly RawPod[] } {
  return typeof value === 'object' && value !== null && 'items' in value && Array.isArray(value.items);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
