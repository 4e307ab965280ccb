import { type Pod, type PodStatus, podFullName, type RawPod } from '../../model/pod.ts';
import type { ObservedPod } from '../../ports/container-runtime.ts';
import type { Route } from '../../ports/route.ts';
import { sendJson } from '../../ports/answer.ts';
import type { ServedPods } from './served-pods.ts';

/** How many pods are looked at together for /runningpods/. */
const AT_ONCE = 8;

/** /pods: what should run here, with what the agent knows of it. /runningpods/: what the engine runs. */
export function podRoutes(served: Pick<ServedPods, 'pods' | 'statusOf' | 'runtime'>): readonly Route[] {
  return [
    {
      methods: ['GET'],
      path: '/pods',
      readOnly: true,
      handle: async (_request, response) => sendJson(response, podList(served.pods.list().map(({ pod }) => withStatus(served, pod)))),
    },
    {
      methods: ['GET'],
      path: '/runningpods/',
      debugging: true,
      handle: async ({ signal }, response) => sendJson(response, podList(await runningPods(served, signal))),
    },
  ];
}

/** A v1 PodList, as the API server would send it. */
function podList(pods: readonly RawPod[]): unknown {
  const items = pods.map(({ metadata, spec, status }) => ({ metadata, spec, status }));
  return { kind: 'PodList', apiVersion: 'v1', metadata: {}, items };
}

/** The kubelet does so for static pods alone; here pods of the API server show what their node knows, too, be the server away or not. */
function withStatus({ statusOf }: Pick<ServedPods, 'statusOf'>, pod: Pod): RawPod {
  return { ...pod, status: freshStatus(pod.status ?? {}, statusOf(pod.metadata.uid)) };
}

/** Conditions of others' (readiness gates) stay as the API server has them. */
function freshStatus(reported: PodStatus, known: PodStatus | undefined): PodStatus {
  if (known === undefined) return reported;
  const own = known.conditions ?? [];
  const others = (reported.conditions ?? []).filter(({ type }) => !own.some((condition) => condition.type === type));
  return { ...reported, ...known, ...(own.length + others.length > 0 ? { conditions: [...own, ...others] } : {}) };
}

/** Names, and the images as the engine knows them: pods that have something running, a sandbox being enough. */
async function runningPods({ runtime }: Pick<ServedPods, 'runtime'>, signal: AbortSignal): Promise<readonly RawPod[]> {
  const listed = await runtime.listPods(signal);
  const running = listed.filter(({ parts }) => parts.some(({ phase }) => phase === 'running'));
  const pods: RawPod[] = [];
  for (let at = 0; at < running.length; at += AT_ONCE) {
    const observed = await Promise.all(running.slice(at, at + AT_ONCE).map(({ uid }) => runtime.observePod(uid, signal)));
    pods.push(...observed.map(asPod));
  }
  return pods.toSorted((a, b) => fullName(a).localeCompare(fullName(b)));
}

function asPod({ uid, name, namespace, containers }: ObservedPod): RawPod {
  const running = containers.filter(({ state }) => state.phase === 'running');
  return {
    metadata: { name, namespace, uid },
    spec: { containers: running.map((container) => ({ name: container.name, image: container.image, resources: {} })) },
    status: {},
  };
}

const fullName = ({ metadata }: RawPod): string =>
  podFullName({ metadata: { name: metadata?.name ?? '', namespace: metadata?.namespace ?? '' } });
