import { createHash } from 'node:crypto';
import { errorCode } from '../base/error-code.ts';
import { errorText } from '../base/error-text.ts';
import { type CgroupName, podCgroup, podPart, qosCgroup } from '../model/cgroup-name.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import { type PodLimiting, type ResourceConfig, resourceConfigForPod } from '../model/resource-config.ts';
import type { OutOfDate, PodCgroup } from '../ports/pod-participant.ts';
import type { CgroupManager } from './cgroup-manager.ts';

export interface PodCgroupsDeps {
  readonly manager: CgroupManager;
  /** The one that all pods' cgroups are in. */
  readonly pods: CgroupName;
  readonly limiting: PodLimiting;
  /** Of processes; 0 and less: no limit. */
  readonly podPidsLimit: number;
  /** A pod's cgroup is set to something else than before: its status has that to show. */
  readonly onResized: (uid: PodUid) => void;
}

/** What the cgroup of a pod was last set to. */
interface Known {
  /** As it was given then: each look at it brings the same one, until something of it changes. */
  readonly pod: Pod;
  readonly name: CgroupName;
  readonly identity: string;
  readonly config: string;
  readonly settings: PodCgroup;
}

/** How soon a cgroup that could not shrink yet is looked at again: its containers shrink first. */
const SHRINK_MS = 10_000;
/** Of a file's name, less what the systemd driver puts around it: "kubepods-burstable-pod" and ".slice". */
const MAX_UID_LENGTH = 200;

/** The pods' own cgroups: limited to what their containers may use together. */
export class PodCgroups {
  readonly #deps: PodCgroupsDeps;
  readonly #known = new Map<PodUid, Known>();

  constructor(deps: PodCgroupsDeps) {
    this.#deps = deps;
  }

  /** As the engine is to be told. */
  parentOf(pod: Pod): string {
    return this.#deps.manager.pathOf(this.#nameOf(pod));
  }

  /**
   * Makes the pod's cgroup, or sets it to what the pod was given by now. It grows before its containers and shrinks after them. Rejects where
   * the pod cannot have one.
   */
  async prepare(pod: Pod): Promise<OutOfDate | undefined> {
    const { manager, limiting, podPidsLimit } = this.#deps;
    const { uid } = pod.metadata;
    const known = this.#known.get(uid);
    if (known?.pod === pod && known.identity === (await manager.identity(known.name))) return undefined;
    const name = this.#nameOf(pod);
    const full = { ...resourceConfigForPod(pod, limiting), ...(podPidsLimit > 0 && { pidsLimit: podPidsLimit }) };
    const config = asText(full);
    const identity = await manager.identity(name);
    if (identity !== undefined && known?.identity === identity && known.config === config) {
      this.#known.set(uid, { ...known, pod, name });
      return undefined;
    }
    if (identity === undefined) {
      await manager.create(name, full);
    } else {
      const waiting = await this.#update(name, full);
      if (waiting !== undefined) return { message: waiting, retryInMs: SHRINK_MS };
    }
    this.#known.set(uid, { pod, name, identity: (await manager.identity(name)) ?? '', config, settings: settingsOf(full) });
    if (known && known.config !== config) this.#deps.onResized(uid);
    return undefined;
  }

  /** Undefined: it has not been made yet. */
  settings(uid: PodUid): PodCgroup | undefined {
    return this.#known.get(uid)?.settings;
  }

  /** Kills what is left of the pod and removes its cgroup, whatever class it was of. */
  async release(uid: PodUid, signal: AbortSignal): Promise<void> {
    this.#known.delete(uid);
    for (const name of this.#namesOf(uid))
      if ((await this.#deps.manager.identity(name)) !== undefined) await this.#deps.manager.destroy(name, signal);
  }

  async remains(uid: PodUid): Promise<string | undefined> {
    for (const name of this.#namesOf(uid))
      if ((await this.#deps.manager.identity(name)) !== undefined) return `cgroup ${this.#deps.manager.pathOf(name)}`;
    return undefined;
  }

  /** Removes the cgroups of pods that are not known, where nothing runs in them. Resolves with what became of each. */
  async sweep(
    isKnown: (uid: PodUid) => Promise<boolean>,
    known: Iterable<PodUid>,
    signal: AbortSignal,
  ): Promise<readonly { readonly path: string; readonly processes: number }[]> {
    const { manager, pods } = this.#deps;
    const theirs = new Set([...known].map((uid) => podPart(partOf(uid))));
    const found: { readonly path: string; readonly processes: number }[] = [];
    for (const qos of classes) {
      const above = qosCgroup(pods, qos);
      for (const child of await manager.children(above)) {
        const name = manager.childOf(above, child);
        const uid = name?.at(-1)?.slice(podPart('').length);
        if (!name || uid === undefined || theirs.has(podPart(uid)) || (await isKnown(uid as PodUid))) continue;
        found.push({ path: manager.pathOf(name), processes: await manager.destroyEmpty(name, signal) });
      }
    }
    return found;
  }

  /** Resolves with why it is as it was before; undefined: it is as it should be. */
  async #update(name: CgroupName, config: ResourceConfig): Promise<string | undefined> {
    const { manager } = this.#deps;
    const path = manager.pathOf(name);
    const before = await manager.memoryLimit(path);
    const { memory = 0 } = config;
    if (memory > 0 && (before === undefined || memory < before)) {
      const usage = await manager.memoryUsage(path);
      if (usage > memory)
        return `cannot decrease memory limits: attempting to set pod memory limit (${memory}) below current usage (${usage})`;
      const below = await this.#memoryBelow(name);
      if (before !== undefined && below > memory) return `cgroup ${path} keeps its memory limit until its containers have less`;
    }
    try {
      await manager.update(name, config);
    } catch (error) {
      // No cgroup may have less CPU than one in it.
      if (errorCode(error) !== 'EINVAL') throw error;
      return `cgroup ${path} keeps its CPU limit until its containers have less: ${errorText(error)}`;
    }
    return undefined;
  }

  /** What the cgroups in this one are limited to together. */
  async #memoryBelow(name: CgroupName): Promise<number> {
    const { manager } = this.#deps;
    const limits = (await manager.children(name)).map((child) => manager.memoryLimit(`${manager.pathOf(name)}/${child}`));
    return (await Promise.all(limits)).reduce<number>((sum, limit) => sum + (limit ?? 0), 0);
  }

  #nameOf(pod: Pod): CgroupName {
    const { metadata } = pod;
    return podCgroup(this.#deps.pods, { ...pod, metadata: { ...metadata, uid: partOf(metadata.uid) as PodUid } });
  }

  #namesOf(uid: PodUid): readonly CgroupName[] {
    return classes.map((qos) => [...qosCgroup(this.#deps.pods, qos), podPart(partOf(uid))]);
  }
}

const classes = ['Guaranteed', 'Burstable', 'BestEffort'] as const;

/** A uid that no cgroup can be named after is known by its hash: with a character that a driver gives a meaning, or too long. */
function partOf(uid: PodUid): string {
  const isUsable = /^[A-Za-z0-9.:-]+$/.test(uid) && uid.length <= MAX_UID_LENGTH;
  return isUsable ? uid : createHash('sha256').update(uid).digest('hex').slice(0, 32);
}

const settingsOf = ({ cpuShares = 0, cpuQuota = -1, cpuPeriod = 0, memory = 0 }: ResourceConfig): PodCgroup => ({
  cpuShares,
  cpuQuota,
  cpuPeriod,
  memory,
});

const asText = (config: ResourceConfig): string => JSON.stringify({ ...config, hugePageLimit: [...(config.hugePageLimit ?? [])] });
