import { type Observable, share } from 'rxjs';
import type { Clock } from '../../../base/clock.ts';
import type { PodUid } from '../../../model/pod.ts';
import type { PodSummary } from '../../../ports/container-runtime.ts';
import { hintsFrom } from '../../common/observe/hints-from.ts';

/** As often as the kubelet lists without events (pkg/kubelet genericPlegRelistPeriod). */
const EACH_MS = 1_000;

export interface ListedHintsDeps {
  readonly listPods: (signal: AbortSignal) => Promise<readonly PodSummary[]>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * The pods that differ from one listing to the next, of a runtime that has no events. Cold, one listing for all who subscribe. A listing that
 * fails is left out: the slow relist, which has the same trouble, tells of it.
 */
export function listedHints(deps: ListedHintsDeps): Observable<PodUid> {
  return hintsFrom((signal, emit) => follow(deps, signal, emit)).pipe(share());
}

async function follow({ listPods, clock }: ListedHintsDeps, signal: AbortSignal, emit: (uid: PodUid) => void): Promise<void> {
  let before: ReadonlyMap<PodUid, string> | undefined;
  while (!signal.aborted) {
    const listed = await listPods(signal).catch(() => undefined);
    if (signal.aborted) return;
    if (listed !== undefined) {
      const now = new Map(listed.map((pod) => [pod.uid, asText(pod)]));
      if (before !== undefined) for (const uid of changed(before, now)) emit(uid);
      before = now;
    }
    await clock.sleep(EACH_MS, signal).catch(() => {});
  }
}

const asText = ({ parts }: PodSummary): string => parts.map(({ id, phase }) => `${id} ${phase}`).join();

function changed(before: ReadonlyMap<PodUid, string>, now: ReadonlyMap<PodUid, string>): readonly PodUid[] {
  const gone = [...before.keys()].filter((uid) => !now.has(uid));
  return [...[...now].flatMap(([uid, text]) => (before.get(uid) === text ? [] : [uid])), ...gone];
}
