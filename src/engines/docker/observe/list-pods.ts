import type { ContainerInfo } from 'dockerode';
import type { PodUid } from '../../../model/pod.ts';
import type { PodSummary } from '../../../ports/container-runtime.ts';
import { listedPhase } from './container-state.ts';
import { CONTAINER_TYPE, SANDBOX_TYPE, TYPE_LABEL } from '../identity/docker-labels.ts';
import { POD_UID_LABEL } from '../../common/identity/pod-labels.ts';
import { type ParsedDockerName, parseDockerName } from '../identity/docker-names.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { wholeContainers } from '../client/whole-answers.ts';

/** A container that a kubelet made. */
export interface ListedContainer {
  readonly id: string;
  readonly kind: 'sandbox' | 'container';
  readonly name: ParsedDockerName;
  readonly info: ContainerInfo;
}

/** Dead or alive. `labels` narrow it ("KEY" or "KEY=VALUE", all must hold). What has no name of ours is left out, as a kubelet would. */
export async function listContainers(client: EngineClient, labels: readonly string[], signal: AbortSignal): Promise<ListedContainer[]> {
  const infos = await client.call('GET /containers/json', client.requestTimeoutMs, signal, (docker) =>
    docker.listContainers({ all: true, filters: { label: [TYPE_LABEL, ...labels] } }),
  );
  return wholeContainers(infos).flatMap((info) => {
    const kind = { [SANDBOX_TYPE]: 'sandbox', [CONTAINER_TYPE]: 'container' } as const;
    const type = kind[info.Labels[TYPE_LABEL] as keyof typeof kind];
    const name = type && nameOf(info, type);
    return type && name ? [{ id: info.Id, kind: type, name, info }] : [];
  });
}

/** A container in a link of another has several names; docker's own comes without a second slash. */
function nameOf({ Names }: ContainerInfo, kind: 'sandbox' | 'container'): ParsedDockerName | undefined {
  const own = Names.find((name) => name.lastIndexOf('/') === 0);
  if (own === undefined) return undefined;
  try {
    return parseDockerName(own, kind);
  } catch {
    return undefined;
  }
}

/** One engine call. Pods and parts come in an order of their own, so that equal listings are equal values. */
export async function listPods(client: EngineClient, signal: AbortSignal): Promise<readonly PodSummary[]> {
  const pods = new Map<string, ListedContainer[]>();
  for (const listed of await listContainers(client, [POD_UID_LABEL], signal)) {
    const { uid } = listed.name;
    const parts = pods.get(uid);
    if (parts) parts.push(listed);
    else pods.set(uid, [listed]);
  }
  return [...pods.entries()].sort(([a], [b]) => compare(a, b)).map(([uid, parts]) => summary(uid, parts));
}

function summary(uid: string, listed: readonly ListedContainer[]): PodSummary {
  const parts = listed.map(({ id, kind, name, info }) => ({
    id,
    container: kind === 'sandbox' ? undefined : name.container,
    phase: listedPhase(info.State),
  }));
  const { pod = '', namespace = '' } = listed[0]?.name ?? {};
  return { uid: uid as PodUid, name: pod, namespace, parts: parts.sort((a, b) => compare(a.id, b.id)) };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
