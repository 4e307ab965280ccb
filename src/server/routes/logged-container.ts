import { type ContainerId, containerIdOf } from '../../model/container-id.ts';
import type { PodStatus } from '../../model/pod.ts';
import { HttpError } from '../../ports/route.ts';

/**
 * Which container's log is meant by a name, from the pod's status: the one that runs, else the last that did; with `previous` the one
 * before. Throws 400 in the kubelet's words when there is none (pkg/kubelet validateContainerLogStatus).
 */
export function loggedContainer(pod: string, status: PodStatus, name: string, previous: boolean): ContainerId {
  const what = `container ${JSON.stringify(name)} in pod ${JSON.stringify(pod)}`;
  const refuse = (text: string): never => {
    throw new HttpError(400, text);
  };
  const everyone = [
    ...(status.containerStatuses ?? []),
    ...(status.initContainerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ];
  const found = everyone.find((container) => container.name === name);
  if (!found) return refuse(`${what} is not available`);
  const { waiting, running, terminated } = found.state ?? {};
  const last = found.lastState?.terminated;
  if (previous) return idOf(last?.containerID) ?? refuse(`previous terminated ${what} not found`);
  if (running) return idOf(found.containerID) ?? refuse(`${what} is not available`);
  // A container that could not start after one that ended has no log of its own.
  if (terminated) return idOf(terminated.containerID) ?? idOf(last?.containerID) ?? refuse(`${what} is terminated`);
  if (last) return idOf(last.containerID) ?? refuse(`${what} is terminated`);
  return refuse(`${what} is waiting to start${waiting ? `: ${whyWaiting(waiting.reason ?? '')}` : ' - no logs yet'}`);
}

function whyWaiting(reason: string): string {
  if (reason === 'ErrImagePull') return "image can't be pulled";
  return reason === 'ImagePullBackOff' ? 'trying and failing to pull image' : reason;
}

function idOf(statusId: string | undefined): ContainerId | undefined {
  const id = containerIdOf(statusId ?? '');
  return id === '' ? undefined : id;
}
