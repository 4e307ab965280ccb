import { Subject } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { firstOf } from '../base/first-of.ts';
import { jitter } from '../base/jitter.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import { asksForMore, grownClaimRequest, hasMore } from '../model/claim-growth.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import type { ClaimReader } from '../ports/claim-reader.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { KubeApi } from '../ports/kube-api.ts';

/** A volume that a pod has, and that this node makes larger by itself. */
export interface GrowingVolume {
  readonly pod: Pod;
  /** The persistent volume's name, and its claim's beside the pod. */
  readonly name: string;
  readonly claim: string;
  /** Makes it as large as what it is on. It may be so already. */
  grow(signal: AbortSignal): Promise<void>;
}

export interface VolumeGrowthDeps {
  readonly claims: ClaimReader;
  readonly api: Pick<KubeApi, 'request'>;
  readonly events: EventRecorder;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly random: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

/** About as often as a kubelet looks at each pod's volumes again. */
const LOOK_MS = 60_000;

/** Makes volumes larger whose claims have grown (NodeExpand), and tells the cluster. It sleeps while no pod has one that could. */
export class VolumeGrowth {
  readonly #deps: VolumeGrowthDeps;
  readonly #kept = new Map<PodUid, Map<string, GrowingVolume>>();
  readonly #news = new Subject<void>();
  /** By volume: why it is not grown, and of those why it could not be, for its events. */
  readonly #faults = new OngoingFaults<string>();
  readonly #refusals = new OngoingFaults<string>();

  constructor(deps: VolumeGrowthDeps) {
    this.#deps = deps;
  }

  /** The pod has it from now on. */
  keep(volume: GrowingVolume): void {
    const { uid } = volume.pod.metadata;
    const ofPod = this.#kept.get(uid) ?? new Map<string, GrowingVolume>();
    this.#kept.set(uid, ofPod.set(volume.name, volume));
    this.#news.next();
  }

  /** The pod has none any more. */
  forget(uid: PodUid): void {
    this.#kept.delete(uid);
  }

  /** Until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#deps;
    while (!signal.aborted) {
      try {
        if (this.#kept.size === 0) await firstOf(this.#news, signal);
        await clock.sleep(jitter(LOOK_MS, 0.1, random), signal);
      } catch {
        return;
      }
      await this.#look(signal);
    }
  }

  /** Not in the loop, whose frame would hold the last volume, and its pod, until the next look. */
  async #look(signal: AbortSignal): Promise<void> {
    // What is done for one pod is done for all that have the volume.
    const volumes = new Map([...this.#kept.values()].flatMap((ofPod) => [...ofPod]));
    for (const faults of [this.#faults, this.#refusals]) faults.retain((name) => volumes.has(name));
    for (const volume of volumes.values()) await this.#lookAt(volume, signal);
  }

  async #lookAt(volume: GrowingVolume, signal: AbortSignal): Promise<void> {
    const { claims, api, events, log } = this.#deps;
    const { pod, name } = volume;
    const { namespace } = pod.metadata;
    try {
      const claim = await claims.claim(namespace, volume.claim, signal);
      if (claim.spec?.volumeName !== name || !asksForMore(claim)) return;
      const persistent = await claims.volume(name, signal);
      if (!hasMore(persistent, claim)) return;
      await volume.grow(signal).catch((error: unknown) => {
        const message = `NodeExpandVolume.NodeExpandVolume failed for volume "${name}" : ${errorText(error)}`;
        if (!signal.aborted && this.#refusals.fault(name, error)) events.record(pod, 'Warning', 'VolumeResizeFailed', message);
        throw error;
      });
      await api.request(grownClaimRequest(persistent, claim), signal);
      events.record(pod, 'Normal', 'FileSystemResizeSuccessful', `MountVolume.NodeExpandVolume succeeded for volume "${name}"`);
      for (const faults of [this.#faults, this.#refusals]) faults.over(name);
    } catch (error) {
      if (!signal.aborted && this.#faults.fault(name, error))
        log.warn('volume not grown, retrying', { volume: name, pod: `${namespace}/${pod.metadata.name}`, error });
    }
  }
}
