import { Backoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { formatGoDuration } from '../../model/go-duration.ts';
import { type Container, formatPod, type Pod, type PodUid } from '../../model/pod.ts';
import type { ObservedPod } from '../../ports/container-runtime.ts';
import type { RestartHold } from '../../ports/pod-plan.ts';
import { ContainerEnds } from './container-ends.ts';
import { instancesOf } from './instances.ts';

/** Of a kubelet without further ado: the first delay, unless the longest is shorter, and the longest. */
const usualDelays: RestartDelays = { firstMs: 10_000, maxMs: 300_000 };
/** What is long enough to be well (newCrashLoopBackOff in pkg/kubelet/kubelet.go). */
const wellAfterMs = 600_000;

export interface RestartDelays {
  readonly firstMs: number;
  readonly maxMs: number;
}

type Instances = Pick<ObservedPod, 'uid' | 'containers'>;

/**
 * Crash loops: every start of a container that has ended before doubles the time until its next start, counted from the end of its last run.
 * Another image or other resources start over, and so does a container that ran well for ten minutes (doBackOff in pkg/kubelet/kuberuntime).
 */
export class RestartBackoff {
  readonly #backoff: Backoff;
  readonly #ends: ContainerEnds;
  /** Ids by pod, to forget them together. */
  readonly #ids = new Map<PodUid, Set<string>>();

  constructor(clock: Pick<Clock, 'now' | 'monotonicMs'>, { firstMs, maxMs }: RestartDelays = usualDelays) {
    this.#backoff = new Backoff({ clock, baseMs: Math.min(firstMs, maxMs), maxMs, expiryMs: wellAfterMs });
    this.#ends = new ContainerEnds(clock);
  }

  /** To be called with each observation, before it is asked about: when containers ended follows from when they were seen to run. */
  seen(observed: Instances): void {
    this.#ends.seen(observed);
  }

  /** Whether the container has to wait for its next start; undefined: it may be started now. Never longer than the longest delay from now. */
  hold(pod: Pod, container: Container, observed: Instances): RestartHold | undefined {
    const endedAtMs = this.#lastEndMs(container, observed);
    const id = idOf(pod, container);
    if (endedAtMs === undefined || !this.#backoff.isInBackOffSince(id, endedAtMs)) return undefined;
    const delayMs = this.#backoff.get(id);
    return { notBeforeMs: endedAtMs + delayMs, delayMs };
  }

  /** To be called once for every start, with what was observed before it. */
  started(pod: Pod, container: Container, observed: Instances): void {
    const endedAtMs = this.#lastEndMs(container, observed);
    if (endedAtMs === undefined) return;
    const { uid } = pod.metadata;
    const id = idOf(pod, container);
    this.#ids.set(uid, (this.#ids.get(uid) ?? new Set()).add(id));
    this.#backoff.next(id, endedAtMs);
  }

  /** What status shows, under the reason CrashLoopBackOff, while `hold` holds the container. */
  message(pod: Pod, container: Container): string {
    const delay = formatGoDuration(BigInt(Math.round(this.delayMs(pod, container))) * 1_000_000n);
    return `back-off ${delay} restarting failed container=${container.name} pod=${formatPod(pod)}`;
  }

  /** The delay that counts from the end of the container's last run; 0 when none is known. */
  delayMs(pod: Pod, container: Container): number {
    return this.#backoff.get(idOf(pod, container));
  }

  /** Forgets the pod's containers that have been well for long. Call it now and then. */
  gc(uid: PodUid): void {
    const ids = this.#ids.get(uid) ?? new Set();
    this.#backoff.gc(ids);
    for (const id of ids) if (this.#backoff.get(id) === 0) ids.delete(id);
  }

  /** The next start of any of the pod's containers is free. */
  forget(uid: PodUid): void {
    for (const id of this.#ids.get(uid) ?? []) this.#backoff.reset(id);
    this.#ids.delete(uid);
  }

  #lastEndMs({ name }: Container, observed: Instances): number | undefined {
    const last = instancesOf(observed, name).find(({ state }) => state.phase === 'exited');
    return last && this.#ends.endedAtMs(observed.uid, last.id);
  }
}

/** Another image or other resources deserve a new try (GetBackoffKey in pkg/kubelet/kuberuntime). */
function idOf({ metadata: { name, namespace, uid } }: Pod, { name: container, image, resources = {} }: Container): string {
  const amounts = [resources.requests, resources.limits].map((list) => Object.entries(list ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify([name, namespace, uid, container, image, amounts, resources.claims]);
}
