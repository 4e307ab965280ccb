import type { Observable } from 'rxjs';
import type { ContainerAccess } from './container-access.ts';
import type { ContainerRuntime } from './container-runtime.ts';
import type { EngineFeatures } from './engine-features.ts';
import type { ImageService } from './image-service.ts';
import type { PodLifecycleEvents } from './pod-lifecycle-events.ts';
import type { RunningPods } from './running-pods.ts';
import type { Staged } from './staged.ts';

/** What runs the containers. */
export interface Engine {
  /** As container ids and the node's status show it: "docker", "containerd". */
  readonly name: string;
  readonly runtime: ContainerRuntime;
  readonly images: ImageService;
  readonly access: ContainerAccess;
  /** For those who measure. */
  readonly running: RunningPods;
  /** What it can do, as of a minute ago at most. */
  features(signal: AbortSignal): Promise<EngineFeatures>;
  /** As it said last; undefined: it has not yet. */
  lastFeatures(): EngineFeatures | undefined;
  /** Where the engine keeps its data; undefined: not on this machine, or it does not say. */
  dataDirectory(signal: AbortSignal): Promise<string | undefined>;
  /** What images take on its disk; undefined: it does not say. */
  imageBytes(signal: AbortSignal): Promise<number | undefined>;
  /** Why no container can run now, in the kubelet's words, as the engine says itself; undefined: it says nothing of the kind. */
  runtimeFault(): string | undefined;
  /** Why no pod can be connected to the pods' network now, in the kubelet's words; undefined: it works. */
  networkFault(): string | undefined;
  /** Emits when pods that waited may be connected, or in another way than before. */
  readonly networkChanges: Observable<void>;
  /** Takes the ranges that pods get their addresses from, "10.1.0.0/24,fd00::/64". Absent: it has no use for them. Rejects where it has not taken them. */
  usePodCidr?(podCidr: string, signal: AbortSignal): Promise<void>;
  /** What it needs done beside the pods. */
  services(pleg: Pick<PodLifecycleEvents, 'relists'>): readonly Staged[];
  /** Ends what is kept for the next call: connections, helper processes. */
  close(): void;
}
