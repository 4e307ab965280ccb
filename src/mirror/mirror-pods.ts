import { distinctUntilChanged, merge, type Observable, map, tap } from 'rxjs';
import { drainInto } from '../base/drain-into.ts';
import { errorText } from '../base/error-text.ts';
import { exponential } from '../base/exponential.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { Service } from '../base/service.ts';
import { isForbidden } from '../model/api-error.ts';
import { isMirrorPod, isStaticPod } from '../model/mirror-pod.ts';
import type { PodUpdate } from '../model/pod-update.ts';
import { type Pod, type PodFullName, podFullName, showPod } from '../model/pod.ts';
import type { ApiPods } from '../ports/api-pods.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { KubeApi } from '../ports/kube-api.ts';
import type { PodStore } from '../ports/pod-store.ts';
import type { Next, WakeReason, WorkQueue } from '../ports/work-queue.ts';
import { changeMirrorPod, MirrorNameTakenError } from './change-mirror-pod.ts';
import { type MirrorOwner, mirrorPodActions } from './mirror-pod-actions.ts';

export interface MirrorPodsDeps {
  readonly api: Pick<KubeApi, 'request'>;
  readonly apiPods: ApiPods;
  readonly pods: PodStore;
  /** What the mux tells: which static pods came, changed or went. Hot. */
  readonly updates: Observable<PodUpdate>;
  /** This agent's Node; undefined while it is not known. */
  readonly node: Observable<MirrorOwner | undefined>;
  /** Its back-off is that of failed calls. */
  readonly queue: WorkQueue<PodFullName>;
  /** Whether the pod that the mirror shows still comes to its end here, though it is not declared any more. What ends it calls `wake`. */
  readonly isHeld: (mirror: Pod) => boolean;
  readonly log: Logger;
  readonly tell: Pick<Happenings, 'mirrorTried'>;
}

/** Calls to the API server at the same time. */
const CONCURRENCY = 4;
/**
 * When what was refused is asked again, after the n-th refusal in a row: soon at first, since an API server that has just started refuses
 * what it allows a moment later.
 */
const refusedMs = exponential(1_000, 60_000);

interface Wake {
  readonly names: readonly PodFullName[];
  readonly reason: WakeReason;
}

/**
 * Keeps for each static pod an object in the API server that shows it. A projection of its own: no static pod ever waits for it, and it
 * makes good what it missed as soon as the API server answers.
 */
export class MirrorPods implements Service {
  readonly name = 'mirror pods';
  readonly #deps: MirrorPodsDeps;
  #node: MirrorOwner | undefined;
  /** Mirrors that cannot be kept right. */
  readonly #faults = new OngoingFaults<PodFullName>();
  readonly #refusals = new Map<PodFullName, number>();

  constructor(deps: MirrorPodsDeps) {
    this.#deps = deps;
  }

  /** A pod of this name has ended. */
  wake(name: PodFullName): void {
    this.#deps.queue.add(name, 'pod ended');
  }

  async run(signal: AbortSignal): Promise<void> {
    const { queue, updates, apiPods, node } = this.#deps;
    const wakes: Observable<Wake> = merge(
      updates.pipe(map(({ source, pods }) => wakeOf(source === 'api' ? [] : pods.map(podFullName), 'pod updated'))),
      apiPods.changes.pipe(
        map(({ names, relisted }) => wakeOf(relisted ? [...names, ...this.#staticNames()] : names, 'API object changed')),
      ),
      node.pipe(
        tap((now) => (this.#node = now)),
        distinctUntilChanged(sameOwner),
        map(() => wakeOf(this.#staticNames(), 'node changed')),
      ),
    );
    await Promise.all([
      drainInto(wakes, ({ names, reason }) => new Set(names).forEach((name) => queue.add(name, reason)), signal),
      queue.run((name, abort) => this.#keep(name, abort), { concurrency: CONCURRENCY, signal }),
    ]);
  }

  async #keep(name: PodFullName, signal: AbortSignal): Promise<Next> {
    const { api, apiPods, pods, isHeld, log, tell } = this.#deps;
    // What is not known yet is no reason to delete.
    if (!apiPods.synced || !pods.synced) return 'on-change';
    const pod = pods.named(name).find(isStaticPod);
    const object = apiPods.byName(name);
    const mirror = object && isMirrorPod(object) ? object : undefined;
    if (!pod && mirror && isHeld(mirror)) return 'on-change';
    const actions = mirrorPodActions(pod, mirror, this.#node);
    for (const action of actions) {
      if (action.do === 'delete') log.v(2, 'deleting a mirror pod', { pod: showPod(action.mirror), because: action.because });
      else log.v(2, 'creating a mirror pod', { pod: showPod(action.body) });
    }
    try {
      apiPods.learn(await changeMirrorPod(api, actions, signal));
    } catch (error) {
      if (!signal.aborted) this.#complain(name, error);
      if (!isForbidden(error) && !(error instanceof MirrorNameTakenError)) throw error;
      const refusals = (this.#refusals.get(name) ?? 0) + 1;
      this.#refusals.set(name, refusals);
      return { afterMs: refusedMs(refusals) };
    }
    this.#refusals.delete(name);
    tell.mirrorTried({ name, error: undefined });
    if (this.#faults.over(name)) log.info('mirror pod is right again', { pod: name });
    return 'on-change';
  }

  #complain(name: PodFullName, error: unknown): void {
    this.#deps.tell.mirrorTried({ name, error: errorText(error) });
    const fields = { pod: name, error };
    if (!this.#faults.fault(name, error)) this.#deps.log.v(4, 'mirror pod still not changed', fields);
    else if (isForbidden(error)) this.#deps.log.error('mirror pod refused by the API server: the static pod runs without one', fields);
    else this.#deps.log.warn('mirror pod not changed, retrying: the static pod runs without a right one', fields);
  }

  #staticNames(): readonly PodFullName[] {
    return this.#deps.pods.list().flatMap(({ pod, source }) => (source === 'api' ? [] : [podFullName(pod)]));
  }
}

const wakeOf = (names: readonly PodFullName[], reason: WakeReason): Wake => ({ names, reason });

function sameOwner(a: MirrorOwner | undefined, b: MirrorOwner | undefined): boolean {
  return a?.metadata?.uid === b?.metadata?.uid && a?.metadata?.deletionTimestamp === b?.metadata?.deletionTimestamp;
}
