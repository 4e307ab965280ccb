import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { MIN_SHARES } from '../model/cpu-time.ts';
import { type CgroupName, parseCgroupPath, qosCgroup } from '../model/cgroup-name.ts';
import { absoluteAllocatable, nodeResourceConfig, type Reserved } from '../model/node-allocatable.ts';
import type { ResourceList } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { type QosLimiting, qosResourceConfigs, type QosShare, qosShare } from '../model/qos-resource-configs.ts';
import type { QosClass } from '../model/qos.ts';
import type { ResourceConfig } from '../model/resource-config.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import type { EventReason } from '../ports/event-recorder.ts';
import type { CgroupManager } from './cgroup-manager.ts';
import { CgroupSetupError } from './open-cgroups.ts';

export interface NodeCgroupsDeps {
  readonly manager: CgroupManager;
  /** The one that all pods' cgroups are in. */
  readonly pods: CgroupName;
  readonly options: Pick<KubeletOptions, 'enforceNodeAllocatable' | 'kubeReservedCgroup' | 'systemReservedCgroup'>;
  readonly capacity: ResourceList;
  readonly reserved: Omit<Reserved, 'eviction'>;
  readonly qos: QosLimiting;
  /** With feature MemoryQoS and cgroup v2, what the node's daemons have reserved is kept for them. */
  readonly keepsReserved: boolean;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly event: (type: 'Normal' | 'Warning', reason: EventReason, message: string) => void;
}

const RETRY_MS = 60_000;
/** As good as no limit of huge pages. */
const UNBOUNDED = 2 ** 62;

/** The cgroups that pods' own are in, and those of the node's daemons (pkg/kubelet/cm node_container_manager, qos_container_manager). */
export class NodeCgroups {
  readonly #deps: NodeCgroupsDeps;
  /** What each class was last set to. */
  readonly #set = new Map<QosClass, string>();
  /** Of each pod as it is declared: reckoned once, and not with each change of another. */
  readonly #shares = new WeakMap<Pod, QosShare>();

  constructor(deps: NodeCgroupsDeps) {
    this.#deps = deps;
  }

  /** Makes what pods' cgroups are to be in. Rejects where that cannot be, or where what is there already cannot be written. */
  async make(): Promise<void> {
    const { manager, pods } = this.#deps;
    await manager.create(pods, {});
    await manager.create(qosCgroup(pods, 'Burstable'), unbounded(manager));
    await manager.create(qosCgroup(pods, 'BestEffort'), { cpuShares: MIN_SHARES, ...unbounded(manager) });
  }

  /**
   * Holds all pods together, and the node's daemons, to their share. Resolves once that is done: where pods use more than they may by now, it is
   * tried again, for they are to be evicted. Rejects with CgroupSetupError for a cgroup of daemons that cannot be limited.
   */
  async enforce(signal: AbortSignal): Promise<void> {
    const { options, reserved } = this.#deps;
    for (const [of, path, amounts] of [
      ['system', options.systemReservedCgroup, reserved.system],
      ['kube', options.kubeReservedCgroup, reserved.kube],
    ] as const) {
      const [all, compressible] = [`${of}-reserved`, `${of}-reserved-compressible`].map((word) =>
        options.enforceNodeAllocatable.includes(word),
      );
      if (all || compressible) await this.#enforceDaemons(of, path, amounts, !all);
    }
    await this.#enforcePods(signal);
  }

  /** Sets the classes to what the pods in them ask for, where that has changed. */
  async update(pods: Iterable<Pod>): Promise<void> {
    const { pods: root, qos } = this.#deps;
    const configs = qosResourceConfigs(
      Array.from(pods, (pod) => this.#shareOf(pod)),
      qos,
    );
    for (const each of ['Guaranteed', 'Burstable', 'BestEffort'] as const) {
      const config = configs[each];
      const text = JSON.stringify(config);
      if (this.#set.get(each) === text || text === '{}') continue;
      await this.#setClass(qosCgroup(root, each), config);
      this.#set.set(each, text);
    }
  }

  #shareOf(pod: Pod): QosShare {
    const known = this.#shares.get(pod);
    if (known) return known;
    const share = qosShare(pod);
    this.#shares.set(pod, share);
    return share;
  }

  /** Memory that is used already cannot be taken: then it shall at least not become more (retrySetMemoryReserve). */
  async #setClass(name: CgroupName, config: ResourceConfig): Promise<void> {
    const { manager } = this.#deps;
    try {
      await manager.update(name, config);
    } catch (error) {
      const usage = await manager.memoryUsage(manager.pathOf(name));
      if (config.memory === undefined || usage <= config.memory) throw error;
      await manager.update(name, { ...config, memory: usage });
    }
  }

  async #enforcePods(signal: AbortSignal): Promise<void> {
    const { manager, pods, options, capacity, reserved, clock, event } = this.#deps;
    const amounts = options.enforceNodeAllocatable.includes('pods') ? absoluteAllocatable(capacity, reserved) : capacity;
    for (;;) {
      try {
        await manager.update(pods, nodeResourceConfig(amounts));
        event('Normal', 'NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods');
        return;
      } catch (error) {
        event(
          'Warning',
          'FailedNodeAllocatableEnforcement',
          `Failed to update Node Allocatable Limits ${shown(pods)}: ${errorText(error)}`,
        );
      }
      await clock.sleep(RETRY_MS, signal);
    }
  }

  async #enforceDaemons(of: 'system' | 'kube', path: string, amounts: ResourceList, compressible: boolean): Promise<void> {
    const { manager, event, keepsReserved } = this.#deps;
    const name = parseCgroupPath(path, manager.driver);
    const config = nodeResourceConfig(amounts, compressible);
    const kept = keepsReserved && config.memory !== undefined ? { unified: { 'memory.min': `${config.memory}` } } : {};
    try {
      if ((await manager.identity(name)) === undefined) throw new Error(`${shown(name)} cgroup does not exist`);
      await manager.update(name, { ...config, ...kept });
    } catch (cause) {
      const what = `${of === 'system' ? 'System' : 'Kube'} Reserved ${compressible ? 'Compressible ' : ''}Cgroup Limits`;
      const message = `Failed to enforce ${what} on ${JSON.stringify(path)}: ${errorText(cause)}`;
      event('Warning', 'FailedNodeAllocatableEnforcement', message);
      throw new CgroupSetupError(message, { cause });
    }
    event('Normal', 'NodeAllocatableEnforced', `Updated limits on ${of} reserved cgroup ${path}`);
  }
}

const unbounded = ({ hugePageSizes }: CgroupManager): ResourceConfig => ({
  hugePageLimit: new Map([...hugePageSizes.keys()].map((bytes) => [bytes, UNBOUNDED])),
});

/** As Go prints a CgroupName. */
const shown = (name: CgroupName): string => `[${name.map((part) => JSON.stringify(part)).join(' ')}]`;

/** How many processes the machine can have: what pods may share (pkg/kubelet/stats/pidlimit). Undefined: not known. */
export async function maxProcesses(proc: string): Promise<number | undefined> {
  const texts = ['kernel/pid_max', 'kernel/threads-max'].map((name) => readFile(join(proc, 'sys', name), 'utf8'));
  const numbers = (await Promise.allSettled(texts)).flatMap((one) => (one.status === 'fulfilled' ? [Number(one.value)] : []));
  const least = Math.min(...numbers);
  return Number.isFinite(least) ? least : undefined;
}
