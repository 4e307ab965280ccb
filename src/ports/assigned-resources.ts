import type { Container, Pod, PodUid } from '../model/pod.ts';

/** A device that a container has for itself, or could have. */
export interface AssignedDevice {
  /** "nvidia.com/gpu" */
  readonly resource: string;
  readonly id: string;
  /** NUMA nodes that it is attached to. */
  readonly nodes: readonly number[];
}

export interface AssignedMemory {
  /** "memory", "hugepages-2Mi" */
  readonly type: string;
  readonly bytes: number;
  /** NUMA nodes that it comes from. */
  readonly nodes: readonly number[];
}

/** Devices of a claim that a container refers to, by their CDI names. */
export interface AssignedClaim {
  readonly name: string;
  readonly namespace: string;
  readonly devices: readonly {
    readonly driver: string;
    readonly pool: string;
    readonly device: string;
    readonly cdiDevices: readonly string[];
    readonly shareId?: string | undefined;
  }[];
}

/** What containers have for themselves, for who asks the node for it: answered from what is known. Empty: nothing of that kind. */
export interface AssignedResources {
  devices?(uid: PodUid, container: string): readonly AssignedDevice[];
  /** Those that are healthy, in use or not. */
  allocatableDevices?(): readonly AssignedDevice[];
  cpus?(uid: PodUid, container: string): readonly number[];
  allocatableCpus?(): readonly number[];
  memory?(uid: PodUid, container: string): readonly AssignedMemory[];
  allocatableMemory?(): readonly AssignedMemory[];
  claims?(pod: Pod, container: Container): readonly AssignedClaim[];
}
