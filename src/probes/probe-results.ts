import { type Observable, Subject } from 'rxjs';
import type { PodUid } from '../model/pod.ts';
import type { ProbeResult } from '../model/probe-result.ts';
import type { ContainerId } from '../ports/container-runtime.ts';
import type { ProbeKind } from './probe-kind.ts';

/** Ids of containers that had passed these probes when that was noted last. */
export interface PassedProbes {
  readonly readiness: readonly string[];
  readonly startup: readonly string[];
}

/** What the probes found last, by container. What had passed before the agent began counts until a probe says otherwise. */
export class ProbeResults {
  readonly #found: Readonly<Record<ProbeKind, Map<ContainerId, ProbeResult>>> = {
    liveness: new Map(),
    readiness: new Map(),
    startup: new Map(),
  };
  readonly #before = { readiness: new Set<string>(), startup: new Set<string>() };
  readonly #changes = new Subject<PodUid>();
  readonly #touched = new Subject<void>();

  /** Pods whose status, or whose needs, a new result has changed. Hot. */
  readonly changes: Observable<PodUid> = this.#changes;
  /** Something else has passed than before. Hot. */
  readonly touched: Observable<void> = this.#touched;

  get(kind: ProbeKind, id: ContainerId): ProbeResult | undefined {
    return this.#found[kind].get(id) ?? this.restored(kind, id);
  }

  /** What is known from before the agent began. */
  restored(kind: ProbeKind, id: ContainerId): ProbeResult | undefined {
    return kind !== 'liveness' && this.#before[kind].has(id) ? 'success' : undefined;
  }

  restore({ readiness, startup }: PassedProbes): void {
    for (const id of readiness) this.#before.readiness.add(id);
    for (const id of startup) this.#before.startup.add(id);
  }

  set(kind: ProbeKind, id: ContainerId, result: ProbeResult, uid: PodUid): void {
    const before = meaningOf(kind, this.get(kind, id));
    this.#found[kind].set(id, result);
    this.#forgetRestored(kind, id);
    if (before === meaningOf(kind, result)) return;
    this.#touched.next();
    this.#changes.next(uid);
  }

  remove(kind: ProbeKind, id: ContainerId): void {
    if (this.#found[kind].delete(id) || this.restored(kind, id) !== undefined) this.#touched.next();
    this.#forgetRestored(kind, id);
  }

  /** These containers are gone. */
  dropRestored(ids: readonly ContainerId[]): void {
    const known = ids.filter((id) => this.#before.readiness.has(id) || this.#before.startup.has(id));
    for (const id of known) for (const kind of ['readiness', 'startup'] as const) this.#forgetRestored(kind, id);
    if (known.length > 0) this.#touched.next();
  }

  /** What has not been probed again by now belongs to containers that are gone. */
  forgetUnclaimed(): void {
    this.#before.readiness.clear();
    this.#before.startup.clear();
    this.#touched.next();
  }

  passed(): PassedProbes {
    const of = (kind: 'readiness' | 'startup'): readonly string[] => {
      const now = [...this.#found[kind]].flatMap(([id, result]) => (result === 'success' ? [id] : []));
      return [...new Set([...this.#before[kind], ...now])];
    };
    return { readiness: of('readiness'), startup: of('startup') };
  }

  #forgetRestored(kind: ProbeKind, id: ContainerId): void {
    if (kind !== 'liveness') this.#before[kind].delete(id);
  }
}

/** What a result means to others: between those that mean the same, nothing has changed. */
function meaningOf(kind: ProbeKind, result: ProbeResult | undefined): string {
  if (kind === 'liveness') return result === 'failure' ? 'failure' : '';
  if (kind === 'readiness') return result === 'success' ? 'success' : '';
  return result === 'unknown' ? '' : (result ?? '');
}
