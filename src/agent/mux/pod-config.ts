import { isDeepStrictEqual } from 'node:util';
import { type Observable, Subject } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { CONFIG_FIRST_SEEN_ANNOTATION, CONFIG_SOURCE_ANNOTATION, LOCAL_ANNOTATIONS } from '../../model/config-annotations.ts';
import { formatPod, type Pod, podFullName, type PodUid, type SourceName } from '../../model/pod.ts';
import { ALL_SOURCES, type PodOperation, type PodUpdate } from '../../model/pod-update.ts';
import { formatTime } from '../../model/time.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import { differSemantically } from './differ-semantically.ts';

/**
 * What a change turns into (pkg/kubelet/config PodConfigNotificationMode).
 * Snapshot: the full set as SET, whatever changed. SnapshotAndUpdates: SET when pods came or went, UPDATE and DELETE else.
 * Incremental: ADD, UPDATE, DELETE, REMOVE and RECONCILE; an empty ADD says that a source has spoken and had nothing.
 * The agent uses Incremental, as the kubelet does; the other two are there for Kubernetes' own vectors of its multiplexer.
 */
export type NotificationMode = 'Snapshot' | 'SnapshotAndUpdates' | 'Incremental';

export interface PodConfigDeps {
  readonly mode: NotificationMode;
  readonly clock: Pick<Clock, 'now'>;
  readonly events: EventRecorder;
  readonly log: Logger;
}

/** One pod of one source. `given` is the source's own last object, so that an unchanged one costs nothing. */
interface Entry {
  pod: Pod;
  given: Pod;
}
type Entries = Map<PodUid, Entry>;
type Changes = Record<'added' | 'updated' | 'deleted' | 'removed' | 'reconciled', Entry[]>;

/**
 * Many sources, one truth: merges what sources say into a store, and tells each real change once, in order.
 *
 * INVARIANTS
 * - A source's pods are only touched through its own channel.
 * - A stored pod is never mutated: a change replaces it, so what was emitted stays what it was.
 * - The first-seen annotation of a pod is written when it comes and kept while it stays.
 */
export class PodConfig {
  readonly #deps: PodConfigDeps;
  readonly #sources = new Map<SourceName, Entries>();
  readonly #channels = new Set<SourceName>();
  readonly #seen = new Set<SourceName>();
  readonly #updates = new Subject<PodUpdate>();

  constructor(deps: PodConfigDeps) {
    this.#deps = deps;
  }

  /** Hot: subscribe before the first change. */
  get updates(): Observable<PodUpdate> {
    return this.#updates;
  }

  /** Registers a source, so that it has to speak before everything counts as seen, and returns its way in. Asking again returns an equal one. */
  channel(source: SourceName): (op: PodOperation, pods: readonly Pod[]) => void {
    this.#channels.add(source);
    return (op, pods) => this.merge(source, op, pods);
  }

  /** Emits everything that is stored as one SET for all sources. */
  sync(): void {
    this.#emit('SET', ALL_SOURCES, this.mergedState());
  }

  mergedState(): readonly Pod[] {
    return [...this.#sources.values()].flatMap((entries) => [...entries.values()].map((entry) => entry.pod));
  }

  /** Sources that have sent their complete set at least once. */
  get sourcesSeen(): ReadonlySet<SourceName> {
    return this.#seen;
  }

  /** True when every registered source has sent its complete set, and `consumerSaw` of its updates: until then nothing may be cleaned up. */
  seenAllSources(consumerSaw: ReadonlySet<string>): boolean {
    return [...this.#channels].every((source) => consumerSaw.has(source) && this.#seen.has(source));
  }

  /** What a channel does. Does not register the source: it is not waited for. */
  merge(source: SourceName, op: PodOperation, pods: readonly Pod[]): void {
    const seenBefore = this.#seen.has(source);
    const changes = this.#apply(source, op, pods);
    const firstSet = !seenBefore && this.#seen.has(source);
    const { added, updated, deleted, removed, reconciled } = changes;
    const cameOrWent = added.length > 0 || removed.length > 0;
    const changed = updated.length > 0 || deleted.length > 0;
    switch (this.#deps.mode) {
      case 'Incremental':
        this.#emitSome('REMOVE', source, removed);
        if (added.length > 0 || (firstSet && !changed)) this.#emit('ADD', source, podsOf(added));
        this.#emitSome('UPDATE', source, updated);
        this.#emitSome('DELETE', source, deleted);
        this.#emitSome('RECONCILE', source, reconciled);
        return;
      case 'SnapshotAndUpdates':
        if (cameOrWent || firstSet) this.#emit('SET', source, this.mergedState());
        this.#emitSome('UPDATE', source, updated);
        this.#emitSome('DELETE', source, deleted);
        return;
      case 'Snapshot':
        if (cameOrWent || changed || firstSet) this.#emit('SET', source, this.mergedState());
        return;
      default:
        this.#deps.mode satisfies never;
    }
  }

  #apply(source: SourceName, op: PodOperation, pods: readonly Pod[]): Changes {
    const changes: Changes = { added: [], updated: [], deleted: [], removed: [], reconciled: [] };
    const before: Entries = this.#sources.get(source) ?? new Map<PodUid, Entry>();
    this.#sources.set(source, before);
    switch (op) {
      case 'SET': {
        this.#seen.add(source);
        const after: Entries = new Map();
        this.#take(source, pods, before, after, changes);
        this.#sources.set(source, after);
        for (const [uid, entry] of before) if (!after.has(uid)) changes.removed.push(entry);
        break;
      }
      case 'ADD':
      case 'UPDATE':
      case 'DELETE':
        this.#take(source, pods, before, before, changes);
        break;
      case 'REMOVE':
        for (const { metadata } of pods) {
          const entry = before.get(metadata.uid);
          if (entry && before.delete(metadata.uid)) changes.removed.push(entry);
        }
        break;
      case 'RECONCILE':
        this.#deps.log.warn('operation of a source ignored: only the mux makes it', { source, op });
        break;
      default:
        op satisfies never;
    }
    return changes;
  }

  /** Moves `pods` into `after`, sorting them into changes against `before` (the same map where pods are only added). */
  #take(source: SourceName, pods: readonly Pod[], before: Entries, after: Entries, changes: Changes): void {
    for (const given of this.#withoutDuplicateNames(source, pods)) {
      const entry = before.get(given.metadata.uid);
      if (!entry) {
        const added = { given, pod: this.#firstSeen(source, given) };
        after.set(given.metadata.uid, added);
        changes.added.push(added);
        continue;
      }
      after.set(given.metadata.uid, entry);
      if (entry.given === given) continue;
      entry.given = given;
      if (differSemantically(entry.pod, given)) {
        entry.pod = updatedFrom(entry.pod, given, source);
        (given.metadata.deletionTimestamp === undefined ? changes.updated : changes.deleted).push(entry);
      } else if (!isDeepStrictEqual(entry.pod.status, given.status)) {
        entry.pod = withStatusOf(entry.pod, given);
        changes.reconciled.push(entry);
      }
    }
  }

  #withoutDuplicateNames(source: SourceName, pods: readonly Pod[]): readonly Pod[] {
    const names = new Set<string>();
    return pods.filter((pod) => {
      const name = podFullName(pod);
      if (!names.has(name)) return names.add(name);
      const why = `Error validating pod ${formatPod(pod)} from ${source} due to duplicate pod name "${pod.metadata.name}", ignoring`;
      this.#deps.events.record(pod, 'Warning', 'FailedValidation', why);
      return false;
    });
  }

  #firstSeen(source: SourceName, pod: Pod): Pod {
    return withAnnotations(pod, {
      ...pod.metadata.annotations,
      [CONFIG_SOURCE_ANNOTATION]: source,
      [CONFIG_FIRST_SEEN_ANNOTATION]: formatTime(this.#deps.clock.now()),
    });
  }

  #emitSome(op: PodOperation, source: SourceName, entries: readonly Entry[]): void {
    if (entries.length > 0) this.#emit(op, source, podsOf(entries));
  }

  #emit(op: PodOperation, source: PodUpdate['source'], pods: readonly Pod[]): void {
    this.#updates.next({ op, source, pods });
  }
}

function podsOf(entries: readonly Entry[]): readonly Pod[] {
  return entries.map((entry) => entry.pod);
}

function withAnnotations(pod: Pod, annotations: Readonly<Record<string, string>>): Pod {
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

/** The stored identity with the given intent: local annotations stay as they were first recorded. */
function updatedFrom(stored: Pod, given: Pod, source: SourceName): Pod {
  const kept = Object.entries(stored.metadata.annotations ?? {}).filter(([key]) => LOCAL_ANNOTATIONS.includes(key));
  const {
    labels: _labels,
    generation: _generation,
    deletionTimestamp: _at,
    deletionGracePeriodSeconds: _grace,
    ...identity
  } = stored.metadata;
  const { labels, generation, deletionTimestamp, deletionGracePeriodSeconds } = given.metadata;
  const metadata: Pod['metadata'] = {
    ...identity,
    ...(labels === undefined ? {} : { labels }),
    ...(generation === undefined ? {} : { generation }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
    annotations: { ...given.metadata.annotations, [CONFIG_SOURCE_ANNOTATION]: source, ...Object.fromEntries(kept) },
  };
  return withStatusOf({ ...stored, metadata, spec: given.spec }, given);
}

function withStatusOf(pod: Pod, given: Pod): Pod {
  const { status: _status, ...rest } = pod;
  return given.status === undefined ? rest : { ...rest, status: given.status };
}
