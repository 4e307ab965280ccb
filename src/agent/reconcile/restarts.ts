import type { PodUid } from '../../model/pod.ts';
import type { ContainerId, ObservedPod } from '../../ports/container-runtime.ts';
import { newestBegun } from './instances.ts';
import type { RestartMarks } from '../../ports/restart-marks.ts';

/** Which containers were stopped to be started again, by this agent or the one before it. */
export class Restarts {
  readonly #marks: RestartMarks;
  /** By container: the instance that was stopped. */
  readonly #stopped = new Map<PodUid, Map<string, ContainerId>>();
  /** Pods whose marks have been read. */
  readonly #recalled = new Set<PodUid>();

  constructor(marks: RestartMarks) {
    this.#marks = marks;
  }

  /** This instance is about to be stopped, to be started again. */
  async mark(uid: PodUid, container: string, id: ContainerId): Promise<void> {
    this.#keep(uid, container, id);
    await this.#marks.mark(uid, container, id);
  }

  /**
   * The pod as it is meant: where the newest instance that ran was stopped to be started again, it and those before it count as only created.
   * Neither their exit codes nor the restart policy say that the container has done its work, also while the next instance waits for its start.
   */
  async asMeant(observed: ObservedPod): Promise<ObservedPod> {
    await this.#recall(observed);
    const stopped = this.#stopped.get(observed.uid);
    if (stopped === undefined) return observed;
    const containers = observed.containers.map((one) => {
      const restarts = stopped.has(one.name) && stopped.get(one.name) === newestBegun(observed, one.name)?.id;
      return restarts && one.state.phase === 'exited' ? { ...one, state: { phase: 'created' as const, restarts: true as const } } : one;
    });
    return { ...observed, containers };
  }

  forget(uid: PodUid): void {
    this.#stopped.delete(uid);
    this.#recalled.delete(uid);
  }

  async #recall({ uid, containers }: ObservedPod): Promise<void> {
    if (this.#recalled.has(uid) || !containers.some(({ state }) => state.phase === 'exited')) return;
    const marks = await this.#marks.load(uid);
    this.#recalled.add(uid);
    for (const [container, id] of marks) this.#keep(uid, container, id);
  }

  #keep(uid: PodUid, container: string, id: ContainerId): void {
    const stopped = this.#stopped.get(uid) ?? new Map<string, ContainerId>();
    this.#stopped.set(uid, stopped.set(container, id));
  }
}
