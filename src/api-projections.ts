import type { Observable } from 'rxjs';
import type { Clock } from './base/clock.ts';
import { exponential } from './base/exponential.ts';
import type { Logger } from './base/logger.ts';
import type { Follower, KubeletInside } from './kubelet.ts';
import type { MirrorOwner } from './mirror/mirror-pod-actions.ts';
import { MirrorPods } from './mirror/mirror-pods.ts';
import type { PodFullName, PodUid } from './model/pod.ts';
import type { ApiPods } from './ports/api-pods.ts';
import type { ContainerRuntime } from './ports/container-runtime.ts';
import type { KubeApi } from './ports/kube-api.ts';
import { KeyedWorkQueue } from './queue/keyed-work-queue.ts';
import { PodStatusSync } from './status/pod-status-sync.ts';
import type { PodStatusManager } from './status/status-manager.ts';
import type { PodVolumes } from './volumes/pod-volumes.ts';

export interface ApiProjectionsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly api: Pick<KubeApi, 'request'>;
  readonly apiPods: ApiPods;
  readonly statuses: PodStatusManager;
  readonly runtime: Pick<ContainerRuntime, 'observePod'>;
  readonly volumes: Pick<PodVolumes, 'remain'>;
  /** This agent's Node; undefined while it is not known. */
  readonly node: Observable<MirrorOwner | undefined>;
  /** Nothing of the pod is left here. May be called again. */
  readonly onEnded?: (uid: PodUid) => void;
}

/** After an outage statuses are there again within this time at the latest. */
const retries = exponential(200, 5_000);

/** The pods as the API server shows them: statuses, deletions of what has ended, mirror pods. */
export function apiProjections(deps: ApiProjectionsDeps): (inside: KubeletInside) => Follower {
  const { clock, log, api, apiPods, statuses, runtime, volumes, node, onEnded } = deps;
  const onError = (key: string, error: unknown, retryInMs: number): void => log.v(4, 'call is made again', { key, error, retryInMs });
  return ({ pods, updates, isHeld }) => {
    const statusSync = new PodStatusSync({
      api,
      apiPods,
      pods,
      statuses,
      clock,
      log,
      queue: new KeyedWorkQueue<PodUid>({ clock, backoffMs: retries, onError }),
      remainsOf: async (uid, signal) => {
        const { containers, sandboxes } = await runtime.observePod(uid, signal);
        return { containers: containers.length, sandboxes: sandboxes.length, volumes: await volumes.remain(uid), cgroup: false };
      },
    });
    const mirrorPods = new MirrorPods({
      api,
      apiPods,
      pods,
      updates,
      node,
      isHeld,
      log,
      queue: new KeyedWorkQueue<PodFullName>({ clock, backoffMs: retries, onError }),
    });
    return {
      services: [statusSync, mirrorPods],
      ended: (uid, freeName) => {
        statusSync.wake(uid);
        onEnded?.(uid);
        if (freeName !== undefined) mirrorPods.wake(freeName);
      },
    };
  };
}
