import { defer, filter, finalize, map, merge, Observable, repeat, retry, share, startWith, timer } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import { exponential } from '../../base/exponential.ts';
import type { Logger } from '../../base/logger.ts';
import type { PodUid } from '../../model/pod.ts';
import type { ContainerRuntime, PodSummary } from '../../ports/container-runtime.ts';
import type { Happenings } from '../../ports/happenings.ts';
import { changedPods } from './changed-pods.ts';
import type { PodChange, PodLifecycleEvents } from '../../ports/pod-lifecycle-events.ts';
import { RelistHealth } from './relist-health.ts';

export interface PodLifecycleEventsDeps {
  readonly runtime: Pick<ContainerRuntime, 'hints' | 'listPods'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Between the end of one relist and the start of the next. */
  readonly relistMs?: number;
  readonly tell: Pick<Happenings, 'relisted'>;
}

type News = { readonly recovered: true } | { readonly change: PodChange } | { readonly listed: readonly PodSummary[] };

const FIRST_RETRY_MS = 1_000;

/** The engine's events for speed, a slow relist for truth (the kubelet's PLEG, pkg/kubelet/pleg/generic.go, with events added). */
export function podLifecycleEvents({ runtime, clock, log, relistMs = 10_000, tell }: PodLifecycleEventsDeps): PodLifecycleEvents {
  const health = new RelistHealth({ clock, log });
  const backoffMs = exponential(Math.min(FIRST_RETRY_MS, relistMs), relistMs);
  let latest: readonly PodSummary[] | undefined;
  let missed = 0;
  let asks = 0;
  let lastAskedAtMs: number | undefined;
  /** Pods with an event since the latest listing was asked for, and how many had been asked for when the last event came. */
  const hinted = new Map<PodUid, number>();

  const compare = (listed: readonly PodSummary[], ask: number): News[] => {
    const changed = latest === undefined ? [] : changedPods(latest, listed);
    const wake = new Set(changed.map(({ uid }) => uid));
    for (const { uid, pod } of changed) {
      if (hinted.has(uid)) continue;
      missed++;
      log.v(2, 'relist found a change without an engine event', { pod, uid });
    }
    for (const [uid, after] of hinted) {
      // An event that came while the engine was listing may be about what is not in the list yet: the next relist sees to it.
      if (after >= ask) continue;
      hinted.delete(uid);
      wake.add(uid);
    }
    latest = listed;
    return [{ listed }, ...Array.from(wake, (uid): News => ({ change: { uid, reason: 'relist' } }))];
  };

  const relistOnce = defer(() => {
    const ask = ++asks;
    const askedAtMs = clock.monotonicMs();
    const intervalMs = lastAskedAtMs === undefined ? undefined : askedAtMs - lastAskedAtMs;
    lastAskedAtMs = askedAtMs;
    health.asked('listPods');
    return call((signal) => runtime.listPods(signal)).pipe(
      map((listed) => {
        const recovered = health.answered();
        tell.relisted({ atMs: clock.now(), tookMs: clock.monotonicMs() - askedAtMs, intervalMs, pods: listed });
        const news = compare(listed, ask);
        return recovered ? [...news, { recovered }] : news;
      }),
    );
  });
  const relisting = relistOnce.pipe(
    retry({ delay: (error, failures) => timer(health.failed(error, backoffMs(failures)), clock), resetOnSuccess: true }),
    repeat({ delay: () => timer(relistMs, clock) }),
  );
  const hints = runtime.hints.pipe(
    map((uid): News[] => {
      hinted.set(uid, asks);
      return [{ change: { uid, reason: 'engine event' } }];
    }),
  );
  // Hints are listened to before the first listing is asked for, so that nothing falls in between.
  const news = merge(hints, relisting).pipe(
    finalize(() => {
      latest = undefined;
      hinted.clear();
      health.stopped();
    }),
    share(),
  );
  const each = new Observable<News>((out) =>
    news.subscribe({ next: (batch) => batch.forEach((one) => out.next(one)), error: (e) => out.error(e) }),
  );

  return {
    changes: each.pipe(
      filter((one) => 'change' in one),
      map(({ change }) => change),
    ),
    relists: defer(() => {
      const live = each.pipe(
        filter((one) => 'listed' in one),
        map(({ listed }) => listed),
      );
      return latest === undefined ? live : live.pipe(startWith(latest));
    }),
    recoveries: each.pipe(filter((one) => 'recovered' in one)),
    health: () => health.health(),
    missed: () => missed,
  };
}

/** A call whose signal aborts when the last listener has gone. */
function call<T>(start: (signal: AbortSignal) => Promise<T>): Observable<T> {
  return new Observable((out) => {
    const abort = new AbortController();
    start(abort.signal).then(
      (value) => {
        out.next(value);
        out.complete();
      },
      (error: unknown) => out.error(error),
    );
    return () => abort.abort(new Error('relists have no listener any more'));
  });
}
