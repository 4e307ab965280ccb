import type { Clock } from '../base/clock.ts';
import { LruMap } from '../base/lru-map.ts';
import { withoutCredentials } from '../base/without-credentials.ts';
import { type PodFullName, type PodUid, showPod } from '../model/pod.ts';
import type { Happenings, ImagePulling, ProbeTried } from '../ports/happenings.ts';
import type { ReconcileRecord } from '../ports/pod-plan.ts';
import type { PodStore } from '../ports/pod-store.ts';
import type { StatusChange } from '../ports/pod-statuses.ts';
import type { SeenEvent, SeenPod, SeenPull, SeenRecord, SeenStep } from './pod-facts.ts';

/** For how long what is gone is remembered. */
const REMEMBERED_MS = 60 * 60_000;
/** More than a node has in an hour. What nothing was heard of for longest gives way. */
const MOST_PODS = 2_000;
/** Of those, gone ones. */
const MOST_GONE = 500;
const MOST_EVENTS = 20;
const MOST_TRIES = 5;
const MOST_PULLS = 50;
const MOST_PROBES = 100;
const MOST_CHARACTERS = 1_000;

type Writable<T> = { -readonly [K in keyof T]: T[K] };
interface Entry extends Writable<SeenPod> {
  readonly events: SeenEvent[];
  readonly probes: Map<string, ProbeTried[]>;
  readonly pulls: Map<string, SeenPull>;
}

export interface KnownPodsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly pods: Pick<PodStore, 'get'>;
  /** Whether what is gone is remembered. */
  readonly remembersGone: boolean;
}

/** What was last heard of each pod, and for an hour of those that are gone. Each happening costs the same, however many pods there are. */
export class KnownPods {
  readonly #deps: KnownPodsDeps;
  readonly #pods = new LruMap<PodUid, Entry>(MOST_PODS);
  /** In the order in which they went. */
  readonly #gone = new Map<PodUid, number>();
  readonly #mirrors = new LruMap<PodFullName, { readonly error: string; readonly sinceMs: number }>(MOST_PODS);

  constructor(deps: KnownPodsDeps) {
    this.#deps = deps;
  }

  readonly listener: Partial<Happenings> = {
    reconciled: (record) => {
      const isDeclared = this.#deps.pods.get(record.uid) !== undefined;
      const isLast = endsPod(record);
      const isOver = !isDeclared && (isLast || record.life === 'terminated');
      // The record of its end comes after it: what was forgotten stays so.
      const mayBeForgotten = isOver && !(isLast && this.#deps.remembersGone);
      const entry = mayBeForgotten ? this.#pods.get(record.uid) : this.#entry(record.uid, record.pod);
      if (!entry) return;
      const seen: SeenRecord = { record, endedAtMs: this.#now() };
      entry.pod = record.pod;
      entry.last = seen;
      entry.step = undefined;
      entry.retryAtMs = undefined;
      entry.failsSinceMs = record.failed === undefined || record.failed === 'interrupted' ? undefined : (entry.failsSinceMs ?? this.#now());
      if (record.failed !== undefined || record.outcomes.some(({ action, error }) => action.do !== 'prepare' || error !== undefined))
        entry.acted = seen;
      if (isDeclared) this.#isBack(record.uid, entry);
      // A pod of the API ends while it is declared, and is gone once it is not.
      else if (isOver && (isLast || record.phase === undefined) && record.failed === undefined && entry.goneAtMs === undefined)
        this.#isGone(record.uid, entry);
    },
    stepBegun: ({ uid, life, action, because }) => {
      const entry = this.#pods.get(uid) ?? this.#declared(uid);
      if (entry) entry.step = { life, action, because, sinceMs: this.#now() } satisfies SeenStep;
    },
    keyRetried: ({ queue, key, inMs }) => {
      const entry = queue === 'pods' ? this.#pods.get(key as PodUid) : undefined;
      if (entry) entry.retryAtMs = this.#now() + inMs;
    },
    podEnded: ({ uid }) => {
      const entry = this.#pods.get(uid);
      if (entry && !this.#deps.pods.get(uid)) this.#isGone(uid, entry);
    },
    eventRecorded: ({ uid, container, type, reason, message }) => {
      const known = uid === undefined ? undefined : (this.#pods.get(uid as PodUid) ?? this.#declared(uid as PodUid));
      if (known) addEvent(known.events, { atMs: this.#now(), times: 1, type, reason, message: short(message), container });
    },
    probeTried: (tried) => {
      const probes = (this.#pods.get(tried.uid) ?? this.#declared(tried.uid))?.probes;
      const key = `${tried.container} ${tried.kind}`;
      if (!probes || (!probes.has(key) && probes.size >= MOST_PROBES)) return;
      probes.set(key, [...(probes.get(key) ?? []), { ...tried, message: short(tried.message) }].slice(-MOST_TRIES));
    },
    imagePulling: (pull) => {
      const pulls = (this.#pods.get(pull.uid) ?? this.#declared(pull.uid))?.pulls;
      const key = `${pull.container} ${pull.image}`;
      if (!pulls || (!pulls.has(key) && pulls.size >= MOST_PULLS)) return;
      pulls.set(key, seenPull('error' in pull ? { ...pull, error: short(pull.error) } : pull, pulls.get(key), this.#now()));
    },
    reclaimWaits: ({ uid, why }) => {
      const entry = this.#pods.get(uid);
      if (entry) entry.reclaim = { why: short(why), atMs: this.#now() };
    },
    mirrorTried: ({ name, error }) => {
      if (error === undefined) this.#mirrors.delete(name);
      else this.#mirrors.set(name, { error: short(error), sinceMs: this.#mirrors.get(name)?.sinceMs ?? this.#now() });
    },
  };

  /** A pod's status says something new. */
  statusChanged({ pod, status, previous }: StatusChange): void {
    const entry = this.#entry(pod.metadata.uid, showPod(pod));
    if (status.phase !== previous?.phase || entry.phaseSinceMs === undefined) entry.phaseSinceMs = this.#now();
    entry.status = status;
    entry.lastDeclared = pod;
  }

  get(uid: PodUid): SeenPod | undefined {
    const entry = this.#pods.get(uid);
    return entry && !this.#isForgotten(entry) ? entry : undefined;
  }

  mirror(name: PodFullName): { readonly error: string; readonly sinceMs: number } | undefined {
    return this.#mirrors.get(name);
  }

  /** What is gone and not forgotten, and what is not declared and not gone yet. */
  uids(): readonly PodUid[] {
    return this.#pods.keys().filter((uid) => this.get(uid) !== undefined);
  }

  #declared(uid: PodUid): Entry | undefined {
    const pod = this.#deps.pods.get(uid)?.pod;
    return pod && this.#entry(uid, showPod(pod));
  }

  #entry(uid: PodUid, pod: string): Entry {
    const known = this.#pods.get(uid);
    if (known) return known;
    const made: Entry = { pod, events: [], probes: new Map(), pulls: new Map() };
    this.#pods.set(uid, made);
    return made;
  }

  #isGone(uid: PodUid, entry: Entry): void {
    entry.goneAtMs = this.#now();
    // A spec may be large.
    entry.lastDeclared = undefined;
    this.#gone.delete(uid);
    this.#gone.set(uid, entry.goneAtMs);
    for (const [oldest, atMs] of this.#gone) {
      if (this.#gone.size <= (this.#deps.remembersGone ? MOST_GONE : 0) && this.#now() - atMs <= REMEMBERED_MS) break;
      this.#gone.delete(oldest);
      this.#pods.delete(oldest);
    }
  }

  #isBack(uid: PodUid, entry: Entry): void {
    entry.goneAtMs = undefined;
    this.#gone.delete(uid);
  }

  #isForgotten({ goneAtMs }: Entry): boolean {
    return goneAtMs !== undefined && this.#now() - goneAtMs > REMEMBERED_MS;
  }

  #now(): number {
    return this.#deps.clock.now();
  }
}

/** Whether nothing of the pod was left, and what it had has been released. */
const endsPod = ({ life, failed, outcomes }: ReconcileRecord): boolean =>
  life === 'terminating' && failed === undefined && outcomes.at(-1)?.action.do === 'release';

function seenPull(pull: ImagePulling, before: SeenPull | undefined, atMs: number): SeenPull {
  const fails = pull.stage === 'failed' || pull.stage === 'backing off';
  const isOver = before === undefined || before.pull.stage === 'pulled' || before.pull.stage === 'stopped';
  const failsSinceMs = isOver ? undefined : before.failsSinceMs;
  const goesOn =
    !isOver && !fails && (before.pull.stage === 'waiting' || before.pull.stage === 'begun' || before.pull.stage === 'under way');
  return {
    pull,
    atMs,
    sinceMs: goesOn && pull.stage !== 'begun' ? before.sinceMs : atMs,
    failsSinceMs: fails ? (failsSinceMs ?? atMs) : failsSinceMs,
  };
}

/** A password whose end is cut off looks like none. */
function short(text: string): string {
  const shown = withoutCredentials(text);
  return shown.length > MOST_CHARACTERS ? `${shown.slice(0, MOST_CHARACTERS)}…` : shown;
}

/** The same event again is counted. */
function addEvent(events: SeenEvent[], event: SeenEvent): void {
  const at = events.findLastIndex(
    (each) => each.reason === event.reason && each.message === event.message && each.container === event.container,
  );
  const [before] = at < 0 ? [] : events.splice(at, 1);
  events.push({ ...event, times: (before?.times ?? 0) + 1 });
  if (events.length > MOST_EVENTS) events.shift();
}
