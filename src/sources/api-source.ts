import { distinctUntilChanged, map, tap } from 'rxjs';
import type { Logger } from '../base/logger.ts';
import { isMirrorPod } from '../model/mirror-pod.ts';
import type { ApiPods } from '../ports/api-pods.ts';
import type { Informer, WatchedObject } from '../ports/kube-api.ts';
import type { PodSource } from '../ports/pod-source.ts';
import { ApiPodCache } from './api-pod-cache.ts';
import { samePods } from './same-pods.ts';

export interface ApiSourceDeps {
  readonly informer: Informer;
  readonly nodeName: string;
  readonly log: Logger;
}

export interface ApiSource extends PodSource {
  /** All of the node's API objects. Filled while `snapshots` is subscribed to, before each of them is emitted. */
  readonly pods: ApiPods;
}

/**
 * Pods that are bound to this node. Mirror pods are not among them: they only show what runs from a file or URL, and stand in `pods` for
 * those who keep them right (as the kubelet's pod manager keeps them apart). For one subscriber.
 */
export function apiSource({ informer, nodeName, log }: ApiSourceDeps): ApiSource {
  const cache = new ApiPodCache(log);
  const snapshots = informer<WatchedObject>({ path: '/api/v1/pods', fieldSelector: `spec.nodeName=${nodeName}` }).pipe(
    tap((event) => cache.apply(event)),
    map(() => cache.list().filter((pod) => !isMirrorPod(pod))),
    distinctUntilChanged(samePods),
  );
  return { name: 'api', snapshots, pods: cache };
}
