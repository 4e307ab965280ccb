import { combineLatest, concatMap, from, map, merge, type Observable, tap } from 'rxjs';
import type { AgentState } from './agent/agent-state.ts';
import { FieldNotices } from './agent/field-notices.ts';
import { PodConfig } from './agent/mux/pod-config.ts';
import { podUpdates } from './agent/mux/pod-updates.ts';
import { KeyedWorkQueue } from './agent/queue/keyed-work-queue.ts';
import { reconcilePods } from './agent/reconcile-pods.ts';
import { drainInto } from './base/drain-into.ts';
import { exponential } from './base/exponential.ts';
import { firstOf } from './base/first-of.ts';
import { aboutPod, podFullName, type PodFullName, type PodUid } from './model/pod.ts';
import type { Given } from './ports/contribution.ts';
import type { NodeParts } from './ports/node-parts.ts';
import type { Staged } from './ports/staged.ts';
import type { Handler, PodWake, WakeReason } from './ports/work-queue.ts';

/**
 * The agent, left to right: sources → mux → queue → reconcile → engine; what happens in the engine comes back as wakes.
 * Building starts nothing: its services do, in their stages.
 */
export function kubelet(node: NodeParts, state: AgentState, given: Given): readonly Staged[] {
  const { clock, log, events, engine, pleg, tell, tracing } = node;
  const { pods, updates, lives } = state;

  // What should run: every source's pods, each change once.
  const mux = log.stream('mux');
  const config = new PodConfig({ mode: 'Incremental', clock, events, log: mux });
  const notices = new FieldNotices(events, mux, engine);
  pods.expect(given.sources.map(({ name }) => name));
  const declared: Observable<PodWake> = podUpdates(config, given.sources).pipe(
    tap((update) => {
      for (const pod of update.pods) mux.v(4, 'pod update', { ...aboutPod(pod), source: update.source, op: update.op });
      notices.take(update);
    }),
    concatMap((update) => {
      const changed = pods.apply(update);
      updates.next(update);
      return changed;
    }),
  );

  // What runs, or holds a name, without being declared; looked for only once every source has spoken, an empty one too.
  const orphans: Observable<PodWake> = combineLatest([pleg.relists, from(pods.syncedOnce)]).pipe(
    concatMap(([listed]) => {
      const orphans = new Set<PodUid>();
      for (const { uid } of listed) if (!pods.get(uid)) orphans.add(uid);
      for (const uid of lives.unended) if (!pods.get(uid)) orphans.add(uid);
      return orphans;
    }),
    map((uid) => ({ uid, reason: 'orphan' })),
  );

  // Whatever happens to a pod becomes its uid in one queue.
  const queue = new KeyedWorkQueue<PodUid>({
    name: 'pods',
    clock,
    tell,
    backoffMs: exponential(1000, 10_000),
    onError: (uid, error, retryInMs) => log.stream('queue').v(3, 'reconcile failed', { uid, error, retryInMs }),
  });
  // After an outage of the engine no pod waits out a back-off that began in it.
  const recovered: Observable<PodWake> = pleg.recoveries.pipe(
    concatMap(() => new Set([...pods.list().map(({ pod }) => pod.metadata.uid), ...lives.unended])),
    map((uid) => ({ uid, reason: 'relist' })),
  );
  const wakes: Observable<PodWake> = merge(declared, pleg.changes, orphans, recovered, state.wakes.stream);

  // Each look at that uid sees the world afresh.
  const reconcile = reconcilePods(node, state, given, (uid, freeName) => {
    const waiting = freeName === undefined ? [] : pods.named(freeName).map(({ metadata }) => metadata.uid);
    for (const each of new Set([...waiting, ...(pods.get(uid) ? [uid] : [])])) queue.add(each, 'name free');
    tell.podEnded({ uid, freeName });
  });

  const nameOf = (uid: PodUid): PodFullName | undefined => {
    const declared = pods.get(uid);
    return declared ? podFullName(declared.pod) : lives.nameOf(uid);
  };
  const looked = Promise.withResolvers<void>();
  const traced: Handler<PodUid> = (uid, ...how) => tracing.within({ do: 'look', uid, name: nameOf(uid) }, () => reconcile(uid, ...how));
  const reconcileFirst: Handler<PodUid> = (...look) => traced(...look).finally(looked.resolve);
  // Pods come first, where what is declared is known at once.
  const firstLook = pods.syncedOnce.then(() => (pods.list().length === 0 ? undefined : looked.promise));

  return [
    {
      name: 'workers',
      stage: 'workers',
      run: async (signal) => {
        // What already runs keeps its name before anything else may claim it.
        lives.adopt(await firstOf(pleg.relists, signal));
        await queue.run(reconcileFirst, { concurrency: Number.POSITIVE_INFINITY, signal });
      },
    },
    {
      name: 'intake',
      stage: 'intake',
      run: (signal) => drainInto(wakes, (wake) => enqueue(queue, wake), signal),
      ready: (signal) => Promise.race([firstLook, clock.sleep(FIRST_LOOK_WITHIN_MS, signal)]),
    },
  ];
}

/** As long do those who work beside the pods wait for the first look at one. */
const FIRST_LOOK_WITHIN_MS = 200;

/** These change what is wanted, and interrupt the step under way; news from the engine does not. */
const interrupting: ReadonlySet<WakeReason> = new Set(['pod updated', 'pod deleted', 'pod removed', 'pod ends']);

function enqueue(queue: KeyedWorkQueue<PodUid>, { uid, reason }: PodWake): void {
  if (interrupting.has(reason)) queue.interrupt(uid, reason);
  else queue.add(uid, reason);
}
