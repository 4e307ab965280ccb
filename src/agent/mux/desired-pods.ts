import { CONFIG_SOURCE_ANNOTATION } from '../../model/config-annotations.ts';
import { isStaticPod } from '../../model/mirror-pod.ts';
import { isTerminalPhase } from '../../model/pod-predicates.ts';
import { type Pod, type PodFullName, podFullName, type PodUid, type SourceName } from '../../model/pod.ts';
import type { PodUpdate } from '../../model/pod-update.ts';
import type { DesiredPod, PodStore } from '../../ports/pod-store.ts';
import type { PodWake, WakeReason } from '../../ports/work-queue.ts';

/** The consumer's side of the mux: what should run, by uid. A pod that several sources declare is wanted until the last of them lets go. */
export class DesiredPods implements PodStore {
  readonly #pods = new Map<PodUid, Map<SourceName, DesiredPod>>();
  readonly #uidsByName = new Map<PodFullName, Set<PodUid>>();
  readonly #heard = new Set<string>();
  #sources: readonly SourceName[] | undefined;
  readonly #synced = Promise.withResolvers<void>();
  readonly syncedOnce: Promise<void> = this.#synced.promise;

  /** The sources that have to speak before what none of them declares counts as gone. */
  expect(sources: readonly SourceName[]): void {
    this.#sources = sources;
    if (this.synced) this.#synced.resolve();
  }

  /** The declaration of the source that spoke first. */
  get(uid: PodUid): DesiredPod | undefined {
    return this.#pods.get(uid)?.values().next().value;
  }

  list(): readonly DesiredPod[] {
    return [...this.#pods.keys()].flatMap((uid) => this.get(uid) ?? []);
  }

  named(name: PodFullName): readonly Pod[] {
    return [...(this.#uidsByName.get(name) ?? [])].flatMap((uid) => this.get(uid)?.pod ?? []);
  }

  staticNamesakeOf(pod: Pod): Pod | undefined {
    return isStaticPod(pod) ? undefined : this.named(podFullName(pod)).find(isStaticPod);
  }

  get synced(): boolean {
    return this.#sources?.every((source) => this.#heard.has(source)) ?? false;
  }

  /** Takes an update in and says whom to wake. */
  apply({ op, source, pods }: PodUpdate): readonly PodWake[] {
    if (!this.#heard.has(source)) {
      this.#heard.add(source);
      if (this.synced) this.#synced.resolve();
    }
    switch (op) {
      case 'SET':
        return this.#replaceAll(pods);
      case 'ADD':
        return [...pods.map((pod) => this.#put(pod, 'pod added')), ...this.#othersNamedAs(pods, 'static pod added')];
      case 'UPDATE':
        return pods.map((pod) => this.#put(pod, 'pod updated'));
      case 'DELETE':
        return pods.map((pod) => this.#put(pod, 'pod deleted'));
      case 'RECONCILE':
        return pods.map((pod) => this.#put(pod, 'pod status differs')).filter(({ uid }) => this.#statusMatters(uid));
      case 'REMOVE':
        return [...pods.map((pod) => this.#drop(pod)), ...this.#othersNamedAs(pods, 'name free')];
      default:
        return op satisfies never;
    }
  }

  /** Most often the API repeats what was sent from here. Readiness gates are others' to set, and so may be a pod's end. */
  #statusMatters(uid: PodUid): boolean {
    const pod = this.get(uid)?.pod;
    return (pod?.spec.readinessGates ?? []).length > 0 || isTerminalPhase(pod?.status?.phase);
  }

  /** Pods of the API that give way to one of these, or have done so. */
  #othersNamedAs(pods: readonly Pod[], reason: WakeReason): readonly PodWake[] {
    const others = pods.filter(isStaticPod).flatMap((pod) => this.named(podFullName(pod)));
    return others.filter((pod) => !isStaticPod(pod)).map(({ metadata: { uid } }) => ({ uid, reason }));
  }

  #replaceAll(pods: readonly Pod[]): readonly PodWake[] {
    const declared = new Set(pods.map(({ metadata }) => metadata.uid));
    const gone = [...this.#pods.keys()].filter((uid) => !declared.has(uid));
    this.#pods.clear();
    this.#uidsByName.clear();
    return [...gone.map((uid): PodWake => ({ uid, reason: 'pod removed' })), ...pods.map((pod) => this.#put(pod, 'pod updated'))];
  }

  #put(pod: Pod, reason: WakeReason): PodWake {
    const { uid } = pod.metadata;
    const source = sourceOf(pod);
    const declarations = this.#pods.get(uid) ?? new Map<SourceName, DesiredPod>();
    this.#pods.set(uid, declarations.set(source, { pod, source }));
    const name = podFullName(pod);
    this.#uidsByName.set(name, (this.#uidsByName.get(name) ?? new Set()).add(uid));
    return { uid, reason };
  }

  #drop(pod: Pod): PodWake {
    const { uid } = pod.metadata;
    const declarations = this.#pods.get(uid);
    declarations?.delete(sourceOf(pod));
    if (declarations?.size === 0) {
      this.#pods.delete(uid);
      const name = podFullName(pod);
      const uids = this.#uidsByName.get(name);
      uids?.delete(uid);
      if (uids?.size === 0) this.#uidsByName.delete(name);
    }
    return { uid, reason: 'pod removed' };
  }
}

/** The mux writes the annotation on every pod. */
function sourceOf({ metadata }: Pod): SourceName {
  return (metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] ?? 'api') as SourceName;
}
