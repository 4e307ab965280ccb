import type { Clock } from '../base/clock.ts';
import { drainInto } from '../base/drain-into.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { Service } from '../base/service.ts';
import { ApiUnreachableError, isConflict, isNotFound } from '../model/api-error.ts';
import { isMirrorPod, isMirrorPodOf, isStaticPod } from '../model/mirror-pod.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import { containersAreTerminal } from '../model/pod-termination.ts';
import { type Pod, type PodFullName, podFullName, type PodStatus, type PodUid, showPod } from '../model/pod.ts';
import type { ApiPods, ApiPodsChange } from '../ports/api-pods.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { KubeApi } from '../ports/kube-api.ts';
import type { PodStatuses } from '../ports/pod-statuses.ts';
import type { PodStore } from '../ports/pod-store.ts';
import type { Next, WorkQueue } from '../ports/work-queue.ts';
import { type PodRemains, whyNotReclaimed } from './pod-reclaim.ts';
import { sameConditions, statusPatch } from './status-patch.ts';

export interface PodStatusSyncDeps {
  readonly api: Pick<KubeApi, 'request'>;
  readonly apiPods: ApiPods;
  /** For static pods: their statuses go to their mirror pods. */
  readonly pods: PodStore;
  readonly statuses: Pick<PodStatuses, 'get' | 'adopt' | 'changes'>;
  /** By the pod's own uid, also for static pods. Its back-off is that of failed calls. */
  readonly queue: WorkQueue<PodUid>;
  /** What the pod still holds on this node. Rejects where that cannot be found out. */
  readonly remainsOf: (uid: PodUid, signal: AbortSignal) => Promise<PodRemains>;
  /** Whether the pod's end may not be told yet. */
  readonly holdsEnd: (uid: PodUid) => boolean;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
  readonly tell: Pick<Happenings, 'reclaimWaits'>;
}

/** Calls to the API server at the same time. */
const CONCURRENCY = 16;
/** Another writer of a status is overruled no more often than this, and a pod on its way out is looked at this often (syncPeriod in pkg/kubelet/status). */
const RECONCILE_MS = 10_000;

/** What was last sent to the API server about the object of a name. */
interface Sent {
  readonly uid: PodUid;
  readonly status: PodStatus;
  /** The object's version with it; undefined when the object turned out to say something else. */
  readonly resourceVersion: string | undefined;
  /** When a status of another writer was last replaced by it. */
  readonly overruledAtMs: number | undefined;
}

/**
 * Makes the API's pods show the statuses that are kept here, and takes pods that are being deleted out of the API once nothing of them is
 * left. Level-based: compares what the API has, by the informer's word and its own answers, with the newest status, so that a newer one
 * overtakes all before it, and nothing is sent that is known there.
 *
 * INVARIANTS
 * - Only a pod's own object is written to: each patch and deletion carries its uid.
 * - A pod's last status is there before the pod is deleted.
 * - A pod's end is not told while others would get by it what is still in use here.
 * - A mirror pod is never deleted here.
 */
export class PodStatusSync implements Service {
  readonly name = 'pod statuses';
  readonly #deps: PodStatusSyncDeps;
  readonly #sent = new Map<PodFullName, Sent>();
  /** Objects whose deletion the API server has accepted; finalizers may hold them for long. */
  readonly #deleted = new Map<PodFullName, PodUid>();
  /** What was last said about a pod whose status cannot be sent. */
  readonly #faults = new OngoingFaults<PodUid>();
  #unreachable = false;

  constructor(deps: PodStatusSyncDeps) {
    this.#deps = deps;
  }

  /** Nothing of the pod runs any more: it may be time to delete it. */
  wake(uid: PodUid): void {
    this.#deps.queue.add(uid, 'pod ended');
  }

  /** Names of which something is remembered: what a leak would show in. */
  get size(): number {
    return new Set([...this.#sent.keys(), ...this.#deleted.keys()]).size + this.#faults.size;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { queue, statuses, apiPods } = this.#deps;
    await Promise.all([
      drainInto(statuses.changes, ({ pod }) => queue.add(pod.metadata.uid, 'status changed'), signal),
      drainInto(apiPods.changes, (change) => this.#apiChanged(change), signal),
      queue.run((uid, abort) => this.#sync(uid, abort), { concurrency: CONCURRENCY, signal }),
    ]);
  }

  #apiChanged({ names }: ApiPodsChange): void {
    for (const name of names) {
      const object = this.#deps.apiPods.byName(name);
      if (this.#sent.get(name)?.uid !== object?.metadata.uid) this.#sent.delete(name);
      if (this.#deleted.get(name) !== object?.metadata.uid) this.#deleted.delete(name);
      const uid = object && this.#localUid(object);
      if (uid !== undefined) this.#deps.queue.add(uid, 'API object changed');
    }
  }

  async #sync(uid: PodUid, signal: AbortSignal): Promise<Next> {
    const { pods, statuses, holdsEnd, log } = this.#deps;
    const object = this.#objectOf(uid);
    // A static pod did not wait for its mirror pod to be seen.
    const own = pods.get(uid)?.pod;
    if (object?.status && own && isMirrorPodOf(object, own) && !this.#sent.has(podFullName(object))) statuses.adopt(uid, object.status);
    const status = statuses.get(uid);
    if (!status || !object) {
      // A pod without an API object is shown once it has one.
      this.#faults.over(uid);
      return 'on-change';
    }
    if (isTerminalPhase(status.phase) && !isTerminalPhase(object.status?.phase) && holdsEnd(uid)) {
      log.v(3, 'end of the pod not told to the API yet: what others get by it is still in use', { pod: showPod(object), uid });
      return { afterMs: RECONCILE_MS };
    }
    try {
      const wait = await this.#tell(object, status, signal);
      const next = wait ?? (await this.#deleteIfReclaimed(uid, status, signal));
      if (this.#faults.over(uid)) log.info('pod status sent again', { pod: showPod(object), uid });
      if (this.#unreachable) log.info('API server reached again: statuses are sent');
      this.#unreachable = false;
      return next;
    } catch (error) {
      if (!signal.aborted) this.#complain(uid, object, error);
      throw error;
    }
  }

  /** Resolves with when to look again, if nothing is to be sent now. */
  async #tell(object: Pod, status: PodStatus, signal: AbortSignal): Promise<Next | undefined> {
    const { api, apiPods, clock, log } = this.#deps;
    const name = podFullName(object);
    const { uid, resourceVersion } = object.metadata;
    // The pod was ended in the API: its end is not taken back, and a status of ours that knows about it is on its way.
    if (!isMirrorPod(object) && isTerminalPhase(object.status?.phase) && !isTerminalPhase(status.phase)) return undefined;
    const sent = this.#sent.get(name);
    const again = sent?.uid === uid && sent.status === status;
    if (again && sent.resourceVersion === resourceVersion) return undefined;
    const { patch, same } = statusPatch(object, status);
    const overruledAtMs = sent?.uid === uid ? sent.overruledAtMs : undefined;
    if (patch === undefined || (again && same)) {
      this.#sent.set(name, { uid, status, resourceVersion, overruledAtMs });
      return undefined;
    }
    const waitMs = again && overruledAtMs !== undefined ? overruledAtMs + RECONCILE_MS - clock.monotonicMs() : 0;
    if (waitMs > 0) return { afterMs: waitMs };
    if (again)
      log.v(2, 'pod status in the API differs from the one sent, sending again', { pod: showPod(object), uid: this.#localUid(object) });
    let answer: Pod;
    try {
      const path = `${pathOf(object)}/status`;
      answer = await api.request({ method: 'PATCH', path, contentType: 'application/strategic-merge-patch+json', body: patch }, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The watch will report its end.
      return 'on-change';
    }
    log.v(3, 'status sent', { pod: showPod(object), uid: this.#localUid(object), phase: status.phase });
    // A patch names only what differed from the object as it was known here: another writer may have changed a condition meanwhile.
    const asSent = sameConditions(answer, status);
    apiPods.learn(answer);
    // It may have gone meanwhile: its end would not be reported again.
    if (apiPods.byUid(uid))
      this.#sent.set(name, {
        uid,
        status,
        resourceVersion: asSent ? answer.metadata.resourceVersion : undefined,
        overruledAtMs: again ? clock.monotonicMs() : overruledAtMs,
      });
    return asSent ? undefined : { afterMs: 0 };
  }

  async #deleteIfReclaimed(uid: PodUid, status: PodStatus, signal: AbortSignal): Promise<Next> {
    const { api, apiPods, remainsOf, log, tell } = this.#deps;
    const object = apiPods.byUid(uid);
    if (!object || object.metadata.deletionTimestamp === undefined || isMirrorPod(object)) return 'on-change';
    const name = podFullName(object);
    // Asked for already: the rest is up to the finalizers.
    if (this.#deleted.get(name) === uid) return 'on-change';
    if (!containersAreTerminal(status)) return 'on-change';
    const why = whyNotReclaimed(status, await remainsOf(uid, signal));
    if (why !== undefined) {
      tell.reclaimWaits({ uid, why });
      log.v(3, 'pod not deleted from the API yet', { pod: showPod(object), uid, because: why });
      return { afterMs: RECONCILE_MS };
    }
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } };
    try {
      await api.request({ method: 'DELETE', path: pathOf(object), body }, signal);
      log.v(2, 'ended pod deleted from the API', { pod: showPod(object), uid });
    } catch (error) {
      // Gone, or another pod by now.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    // Its end is often reported before the call is answered.
    if (apiPods.byUid(uid)) this.#deleted.set(name, uid);
    return 'on-change';
  }

  /** A pod's own object, or the mirror pod of a static one. */
  #objectOf(uid: PodUid): Pod | undefined {
    const { apiPods, pods } = this.#deps;
    const desired = pods.get(uid);
    if (desired === undefined || desired.source === 'api') {
      const object = apiPods.byUid(uid);
      return object && !isMirrorPod(object) ? object : undefined;
    }
    const object = apiPods.byName(podFullName(desired.pod));
    return object && isMirrorPod(object) ? object : undefined;
  }

  #localUid(object: Pod): PodUid | undefined {
    if (!isMirrorPod(object)) return object.metadata.uid;
    const name = podFullName(object);
    return this.#deps.pods.named(name).find(isStaticPod)?.metadata.uid;
  }

  #complain(uid: PodUid, object: Pod, error: unknown): void {
    const { log } = this.#deps;
    if (error instanceof ApiUnreachableError) {
      if (!this.#unreachable) log.warn('API server not reached: statuses wait', { error });
      this.#unreachable = true;
      return;
    }
    if (this.#faults.fault(uid, error)) log.warn('pod status not sent, retrying', { pod: showPod(object), uid, error });
    else log.v(4, 'pod status still not sent', { pod: showPod(object), uid, error });
  }
}

function pathOf({ metadata: { namespace, name } }: Pod): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
}
