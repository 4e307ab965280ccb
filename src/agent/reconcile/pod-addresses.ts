import type { Pod, PodUid } from '../../model/pod.ts';
import type { ContainerRuntime, ObservedPod } from '../../ports/container-runtime.ts';

/** The pods' addresses, as their present sandboxes were last seen: asked for each container that starts. */
export class PodAddresses {
  readonly #runtime: Pick<ContainerRuntime, 'observePod'>;
  /** The node's, primary first. */
  readonly #hostIps: readonly string[];
  readonly #known = new Map<PodUid, readonly string[]>();

  constructor(runtime: Pick<ContainerRuntime, 'observePod'>, hostIps: readonly string[]) {
    this.#runtime = runtime;
    this.#hostIps = hostIps;
  }

  /** Takes what was just seen. */
  seen({ uid, sandboxes: [newest] }: ObservedPod): void {
    this.given(uid, newest?.ready ? newest.ips : []);
  }

  /** Takes what the pod's new sandbox was given. */
  given(uid: PodUid, ips: readonly string[]): void {
    if (ips.length > 0) this.#known.set(uid, ips);
    else this.#known.delete(uid);
  }

  /** Another sandbox is about to be made, or the pod is gone. */
  forget(uid: PodUid): void {
    this.#known.delete(uid);
  }

  /** A pod on the node's network has the node's addresses. */
  async of({ metadata: { uid }, spec }: Pod, signal: AbortSignal): Promise<readonly string[]> {
    if (spec.hostNetwork) return this.#hostIps;
    const known = this.#known.get(uid);
    if (known) return known;
    const observed = await this.#runtime.observePod(uid, signal);
    this.seen(observed);
    return observed.sandboxes[0]?.ips ?? [];
  }
}
