import {
  combineLatest,
  concatMap,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  map,
  merge,
  type Observable,
  share,
  startWith,
  tap,
} from 'rxjs';
import type { Clock } from './base/clock.ts';
import { drainInto } from './base/drain-into.ts';
import { exponential } from './base/exponential.ts';
import { firstOf } from './base/first-of.ts';
import type { Logger } from './base/logger.ts';
import type { Service } from './base/service.ts';
import { FieldNotices } from './field-notices.ts';
import type { PodUpdate } from './model/pod-update.ts';
import type { Pod, PodFullName, PodUid } from './model/pod.ts';
import { DesiredPods, type PodWake } from './mux/desired-pods.ts';
import { PodConfig } from './mux/pod-config.ts';
import { podUpdates } from './mux/pod-updates.ts';
import type { PodLifecycleEvents } from './pleg/pod-lifecycle-events.ts';
import type { EventRecorder } from './ports/event-recorder.ts';
import type { WorkQueueObserver } from './ports/observers.ts';
import type { PodSource } from './ports/pod-source.ts';
import type { PodStore } from './ports/pod-store.ts';
import { KeyedWorkQueue } from './queue/keyed-work-queue.ts';
import { PodLives } from './reconcile/pod-lives.ts';
import { podReconciler, type PodReconcilerDeps } from './reconcile/pod-reconciler.ts';

/** What a follower may look at. */
export interface KubeletInside {
  readonly pods: PodStore;
  /** Each change of what should run, once. Hot: nothing is missed by who subscribes before the intake starts. */
  readonly updates: Observable<PodUpdate>;
  /** Whether a pod of this name has not ended yet, declared or not. */
  readonly isHeld: (pod: Pod) => boolean;
}

/** Tells others what becomes of the pods here. Nothing here waits for it. */
export interface Follower {
  /** Started before everything else. */
  readonly services: readonly Service[];
  /** A pod has ended; `freeName` is the name that it held, if it held one. */
  ended(uid: PodUid, freeName: PodFullName | undefined): void;
}

export interface KubeletParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Where pods come from. */
  readonly sources: readonly PodSource[];
  /** What happens to them in the engine. */
  readonly pleg: PodLifecycleEvents;
  readonly events: EventRecorder;
  /** More causes to look at a pod. */
  readonly wakes?: Observable<PodWake>;
  /** How one pod is moved towards its spec. */
  readonly reconcile: Omit<PodReconcilerDeps, 'clock' | 'pods' | 'lives' | 'onEnded'>;
  readonly follow?: (inside: KubeletInside) => Follower;
  /** Told what becomes of the queue's keys. */
  readonly observer?: WorkQueueObserver<PodUid>;
}

export interface Kubelet {
  /** To be run by runServices. */
  readonly phases: readonly (readonly Service[])[];
  readonly pods: PodStore;
  /** Whether something of the pod was in the engine when the agent began, and has not ended since. */
  readonly wasFound: (uid: PodUid) => boolean;
  /** Emits once every source has spoken. Subscribe after the phases have started. */
  readonly synced: Observable<boolean>;
}

/**
 * The agent, left to right: sources → mux → queue → reconcile → engine; what happens in the engine comes back as wakes.
 * Building starts nothing: the phases do, in order.
 */
export function kubelet({ clock, log, sources, pleg, events, wakes: others = EMPTY, reconcile, follow, observer }: KubeletParts): Kubelet {
  // What should run: every source's pods, each change told once.
  const config = new PodConfig({ mode: 'Incremental', clock, events, log });
  const pods = new DesiredPods((heard) => config.seenAllSources(heard));
  const notices = new FieldNotices(events, log);
  const changes = podUpdates(config, sources).pipe(
    tap((update) => notices.tell(update)),
    map((update) => pods.apply(update)),
    share(),
  );
  const declared = changes.pipe(concatMap((wakes) => wakes));

  // What runs, or holds a name, without being declared; asked for only once every source has spoken, be it to say that it has nothing.
  const synced = defer(() => changes.pipe(startWith(undefined))).pipe(
    map(() => pods.synced),
    distinctUntilChanged(),
    filter(Boolean),
  );
  const lives = new PodLives();
  const orphans: Observable<PodWake> = combineLatest([pleg.relists, synced]).pipe(
    concatMap(([listed]) => [...new Set([...listed.map(({ uid }) => uid), ...lives.unended])]),
    filter((uid) => !pods.get(uid)),
    map((uid) => ({ uid, reason: 'orphan' })),
  );

  // Whatever happens to a pod becomes its uid in one queue.
  const queue = new KeyedWorkQueue<PodUid>({
    clock,
    ...(observer && { observer }),
    backoffMs: exponential(1000, 10_000),
    onError: (uid, error, retryInMs) => log.v(3, 'reconcile failed', { uid, error, retryInMs }),
  });
  // After an outage of the engine nobody waits out a back-off that began in it.
  const recovered: Observable<PodWake> = pleg.recoveries.pipe(
    concatMap(() => new Set([...pods.list().map(({ pod }) => pod.metadata.uid), ...lives.unended])),
    map((uid) => ({ uid, reason: 'relist' })),
  );
  const wakes: Observable<PodWake> = merge(declared, pleg.changes, orphans, recovered, others);

  const follower = follow?.({ pods, updates: config.updates, isHeld: (pod) => lives.ownerOf(pod) !== undefined });

  // Whoever handles that uid looks at the world afresh.
  const handle = podReconciler({
    clock,
    pods,
    lives,
    ...reconcile,
    onEnded: (uid, freeName) => {
      const waiting = freeName === undefined ? [] : pods.named(freeName).map(({ metadata }) => metadata.uid);
      for (const each of new Set([...waiting, ...(pods.get(uid) ? [uid] : [])])) queue.add(each, 'name free');
      follower?.ended(uid, freeName);
    },
  });

  const intake: Service = { name: 'intake', run: (signal) => drainInto(wakes, (wake) => enqueue(queue, wake), signal) };
  const workers: Service = {
    name: 'workers',
    run: async (signal) => {
      // What already runs keeps its name before anything else may claim it.
      lives.adopt(await firstOf(pleg.relists, signal));
      await queue.run(handle, { concurrency: Number.POSITIVE_INFINITY, signal });
    },
  };
  return { phases: [follower?.services ?? [], [workers], [intake]], pods, wasFound: (uid) => lives.wasFound(uid), synced };
}

/** A change of what is wanted interrupts the step under way; news from the engine does not. */
function enqueue(queue: KeyedWorkQueue<PodUid>, { uid, reason }: PodWake): void {
  if (reason === 'pod updated' || reason === 'pod deleted' || reason === 'pod removed') queue.interrupt(uid, reason);
  else queue.add(uid, reason);
}
