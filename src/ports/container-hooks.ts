import type { Container, Pod, PodUid } from '../model/pod.ts';
import type { ContainerId } from './container-runtime.ts';

/** A container's lifecycle hooks. */
export interface ContainerHooks {
  /**
   * Runs the postStart hook, if there is one, to its end. Resolves with why it failed, after `failed` has been carried out; undefined: it did
   * not. An abort of `signal` rejects and ends the waiting alone: the hook goes on, and so does what follows from its failure.
   */
  postStart(
    pod: Pod,
    container: Container,
    id: ContainerId,
    signal: AbortSignal,
    failed: (why: string, signal: AbortSignal) => Promise<void>,
  ): Promise<string | undefined>;
  /**
   * Runs the preStop hook, if there is one, for at most `graceMs`: once for each container, however often it is asked for. Resolves with
   * what is left of the grace period, which is never less than 2 s where it was not before. An abort of `signal` rejects and ends the
   * waiting alone.
   */
  preStop(pod: Pod, container: Container, id: ContainerId, graceMs: number, signal: AbortSignal): Promise<number>;
  /** The container has ended. Its hooks end. */
  ended(id: ContainerId): void;
  /** The pod has ended. */
  forget(uid: PodUid): void;
}
