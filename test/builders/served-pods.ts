import type { Pod, PodStatus, PodUid } from '../../src/model/pod.ts';
import type { ContainerAccess, ContainerSession } from '../../src/ports/container-access.ts';
import type { ObservedPod } from '../../src/ports/container-runtime.ts';
import type { ServedPods } from '../../src/server/routes/served-pods.ts';
import { anObservedPod } from './an-observed-pod.ts';

const unexpected = (what: string) => (): never => {
  throw new Error(`${what} was not expected`);
};

/** Reaching into containers, as a test says; what it does not say fails. */
const anAccess = (over: Partial<ContainerAccess> = {}): ContainerAccess => ({
  exec: unexpected('exec'),
  attach: unexpected('attach'),
  dial: unexpected('dial'),
  logs: unexpected('logs'),
  ...over,
});

/** Pods as the server sees them: declared, with what the agent says of them and what the engine has. */
export function servedPods(
  pods: readonly Pod[],
  {
    statuses = {},
    observed = [],
    access = {},
  }: {
    readonly statuses?: Readonly<Record<string, PodStatus>>;
    readonly observed?: readonly ObservedPod[];
    readonly access?: Partial<ContainerAccess>;
  } = {},
): ServedPods {
  return {
    pods: { list: () => pods.map((pod) => ({ pod, source: 'file' })) },
    statusOf: (uid: PodUid) => statuses[uid],
    runtime: {
      listPods: async () =>
        observed.map(({ uid, name, namespace, sandboxes, containers }) => ({
          uid,
          name,
          namespace,
          parts: [
            ...sandboxes.map(({ id, ready }) => ({ id, container: undefined, phase: ready ? ('running' as const) : ('exited' as const) })),
            ...containers.map(({ id, name: container, state }) => ({ id, container, phase: state.phase })),
          ],
        })),
      observePod: async (uid) =>
        observed.find((one) => one.uid === uid) ??
        anObservedPod(
          pods.find((pod) => pod.metadata.uid === uid) ?? { metadata: { uid, name: '', namespace: '' }, spec: { containers: [] } },
        ),
    },
    access: anAccess(access),
    mirrorUidOf: (pod) => `mirror-${pod.metadata.uid}`,
  };
}

/** A process that has ended. */
export function aSession(over: Partial<ContainerSession> = {}): ContainerSession {
  return { stdin: undefined, stdout: undefined, stderr: undefined, resize: async () => {}, ended: Promise.resolve(0), ...over };
}
