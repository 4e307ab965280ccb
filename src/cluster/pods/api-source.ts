import { concatMap, defer } from 'rxjs';
import type { Logger } from '../../base/logger.ts';
import { isMirrorPod } from '../../model/mirror-pod.ts';
import type { PodFieldGates } from '../../model/pod-field-gates.ts';
import { type Pod, type PodFullName, podFullName } from '../../model/pod.ts';
import type { ApiPods } from '../../ports/api-pods.ts';
import type { Informer, WatchedObject } from '../../ports/kube-api.ts';
import { type PodSource, SomePods } from '../../ports/pod-source.ts';
import { ApiPodCache } from './api-pod-cache.ts';
import { samePods } from '../../model/same-pods.ts';

export interface ApiSourceDeps {
  readonly informer: Informer;
  readonly nodeName: string;
  /** Which fields pods have here; all by default. */
  readonly fields?: PodFieldGates;
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
export function apiSource({ informer, nodeName, fields, log }: ApiSourceDeps): ApiSource {
  const cache = new ApiPodCache(log, fields);
  const snapshots = defer(() => {
    const emitted = new EmittedPods();
    return informer<WatchedObject>({ path: '/api/v1/pods', fieldSelector: `spec.nodeName=${nodeName}` }).pipe(
      concatMap((event) => {
        cache.apply(event);
        const news = event.kind === 'reset' ? emitted.all(cache.list()) : emitted.one(nameOf(event.item), cache);
        return news === undefined ? [] : [news];
      }),
    );
  });
  return { name: 'api', snapshots, pods: cache };
}

function nameOf({ metadata: { name, namespace = '' } }: WatchedObject): PodFullName {
  return podFullName({ metadata: { name, namespace } });
}

/** What was last emitted of each name, so that only what differs is. */
class EmittedPods {
  #pods: Map<PodFullName, Pod> | undefined;

  all(objects: readonly Pod[]): readonly Pod[] | undefined {
    const pods = objects.filter((pod) => !isMirrorPod(pod));
    const before = this.#pods;
    this.#pods = new Map(pods.map((pod) => [podFullName(pod), pod]));
    return before !== undefined && samePods([...before.values()], pods) ? undefined : pods;
  }

  one(name: PodFullName, objects: Pick<ApiPods, 'byName'>): SomePods | undefined {
    // Its list comes first.
    if (this.#pods === undefined) return undefined;
    const object = objects.byName(name);
    const pod = object && !isMirrorPod(object) ? object : undefined;
    const before = this.#pods.get(name);
    if (pod === before) return undefined;
    if (pod) this.#pods.set(name, pod);
    else this.#pods.delete(name);
    return new SomePods({ put: pod ? [pod] : [], gone: before && before.metadata.uid !== pod?.metadata.uid ? [before] : [] });
  }
}
