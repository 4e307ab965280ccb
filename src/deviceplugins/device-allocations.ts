import type { PodUid } from '../model/pod.ts';
import type { ContainerAllocateResponse } from './api/deviceplugin_pb.js';

/** What a container has of one resource. */
export interface Allocation {
  readonly ids: ReadonlySet<string>;
  /** The same by NUMA node; -1: attached to none. One that is attached to several is under each. */
  readonly byNode: ReadonlyMap<number, readonly string[]>;
  /** How the container gets at them, as the plugin said. */
  readonly response: ContainerAllocateResponse;
}

/** What one container has, by resource. */
export type ContainerDevices = ReadonlyMap<string, Allocation>;

/** NUMA node of devices that are attached to none (nodeWithoutTopology in pkg/kubelet/cm/devicemanager). */
export const NO_NODE = -1;

/**
 * Who has which devices.
 *
 * INVARIANT: a device is in use by the containers of one pod at most.
 */
export class DeviceAllocations {
  readonly #pods = new Map<PodUid, Map<string, Map<string, Allocation>>>();
  /** Those that a plugin is being asked for, by resource. */
  readonly #asked = new Map<string, Set<string>>();

  get uids(): readonly PodUid[] {
    return [...this.#pods.keys()];
  }

  /** By container. */
  ofPod(uid: PodUid): ReadonlyMap<string, ContainerDevices> | undefined {
    return this.#pods.get(uid);
  }

  of(uid: PodUid, container: string): ContainerDevices | undefined {
    return this.#pods.get(uid)?.get(container);
  }

  insert(uid: PodUid, container: string, resource: string, allocation: Allocation): void {
    const containers = this.#pods.get(uid) ?? new Map<string, Map<string, Allocation>>();
    const resources = containers.get(container) ?? new Map<string, Allocation>();
    resources.set(resource, allocation);
    this.#pods.set(uid, containers.set(container, resources));
  }

  /** Returns whether the pod had any. */
  release(uid: PodUid): boolean {
    return this.#pods.delete(uid);
  }

  /** Nobody else is given these until the returned is called. */
  hold(resource: string, ids: Iterable<string>): () => void {
    const asked = this.#asked.get(resource) ?? new Set();
    this.#asked.set(resource, asked);
    const held = [...ids].filter((id) => !asked.has(id));
    for (const id of held) asked.add(id);
    return () => {
      for (const id of held) asked.delete(id);
      if (asked.size === 0) this.#asked.delete(resource);
    };
  }

  /** Whether any pod has some of the resource. */
  uses(resource: string): boolean {
    for (const [, , name] of this.#all()) if (name === resource) return true;
    return false;
  }

  /** Those of the resource that somebody has, or is about to have. */
  inUse(resource: string): ReadonlySet<string> {
    const used = new Set(this.#asked.get(resource));
    for (const [, , name, { ids }] of this.#all()) if (name === resource) for (const id of ids) used.add(id);
    return used;
  }

  /** Who has any of these devices. */
  usersOf(resource: string, ids: ReadonlySet<string>): ReadonlySet<PodUid> {
    const users = new Set<PodUid>();
    for (const [uid, , name, own] of this.#all()) if (name === resource && !own.ids.isDisjointFrom(ids)) users.add(uid);
    return users;
  }

  all(): readonly (readonly [uid: PodUid, container: string, resource: string, allocation: Allocation])[] {
    return [...this.#all()];
  }

  *#all(): Generator<readonly [PodUid, string, string, Allocation]> {
    for (const [uid, containers] of this.#pods)
      for (const [container, resources] of containers)
        for (const [resource, allocation] of resources) yield [uid, container, resource, allocation] as const;
  }
}
