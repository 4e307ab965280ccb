import type { Pod, PodCondition, PodUid } from './pod.ts';

interface Pending {
  readonly reason: 'Deferred' | 'Infeasible';
  readonly message: string;
  readonly generation: number;
  /** Counts up: who is pending longer has a smaller one. */
  readonly since: number;
}

interface InProgress {
  readonly generation: number;
  /** What went wrong last. */
  readonly error?: string;
}

/** The conditions PodResizePending and PodResizeInProgress of pods (pkg/kubelet/status). The generation of a resize in progress is that which began it. */
export class ResizeConditions {
  readonly #pending = new Map<PodUid, Pending>();
  readonly #inProgress = new Map<PodUid, InProgress>();
  #time = 0;

  of(uid: PodUid): readonly PodCondition[] {
    const pending = this.#pending.get(uid);
    const inProgress = this.#inProgress.get(uid);
    return [
      ...(pending
        ? [{ type: 'PodResizePending', status: 'True', reason: pending.reason, message: pending.message, ...observed(pending) }]
        : []),
      ...(inProgress
        ? [
            {
              type: 'PodResizeInProgress',
              status: 'True',
              ...(inProgress.error !== undefined && { reason: 'Error', message: inProgress.error }),
              ...observed(inProgress),
            },
          ]
        : []),
    ];
  }

  pending(uid: PodUid): Pending | undefined {
    return this.#pending.get(uid);
  }

  /** Returns whether the refusal is news. */
  refused({ metadata: { uid, generation = 0 } }: Pod, reason: Pending['reason'], message: string): boolean {
    const before = this.#pending.get(uid);
    this.#pending.set(uid, { reason, message, generation, since: before?.reason === reason ? before.since : this.#time++ });
    return before?.reason !== reason || before.generation !== generation;
  }

  /** There is nothing to wait for any more. */
  settled(uid: PodUid): void {
    this.#pending.delete(uid);
  }

  /** The pod was given what it asks for: errors of the resize before are over. */
  allocated({ metadata: { uid, generation = 0 } }: Pod): void {
    this.#pending.delete(uid);
    this.#inProgress.set(uid, { generation });
  }

  /** What the pod was given is not all brought about. */
  begun({ metadata: { uid, generation = 0 } }: Pod): void {
    if (!this.#inProgress.has(uid)) this.#inProgress.set(uid, { generation });
  }

  /** As `begun`, for this reason. Returns the generation that is tried, and whether the error is news: another number in it is none. */
  failed({ metadata: { uid, generation = 0 } }: Pod, error: string): { readonly generation: number; readonly isNews: boolean } {
    const before = this.#inProgress.get(uid) ?? { generation };
    const isNews = before.error === undefined || withoutNumbers(before.error) !== withoutNumbers(error);
    if (isNews) this.#inProgress.set(uid, { generation: before.generation, error });
    return { generation: before.generation, isNews };
  }

  /** Returns the generation of the resize that has come to its end; undefined: there was none. */
  completed(uid: PodUid): number | undefined {
    const generation = this.#inProgress.get(uid)?.generation;
    this.#inProgress.delete(uid);
    return generation;
  }

  /** Takes them from the pod's status, where an earlier agent has shown them. */
  backfill({ metadata: { uid }, status }: Pod): void {
    for (const { type, reason, message = '', observedGeneration: generation = 0 } of status?.conditions ?? []) {
      if (type === 'PodResizePending' && (reason === 'Deferred' || reason === 'Infeasible'))
        this.#pending.set(uid, { reason, message, generation, since: this.#time++ });
      if (type === 'PodResizeInProgress') this.#inProgress.set(uid, { generation, ...(reason === 'Error' && { error: message }) });
    }
  }

  forget(uid: PodUid): void {
    this.#pending.delete(uid);
    this.#inProgress.delete(uid);
  }
}

/** "below current usage (53424128)" is the same refusal with each number. */
const withoutNumbers = (text: string): string => text.replaceAll(/\d+/g, '#');

/** Pods of older API servers, and static ones, have no generation. */
const observed = ({ generation }: Pending | InProgress): Pick<PodCondition, 'observedGeneration'> =>
  generation === 0 ? {} : { observedGeneration: generation };
