import { errorText } from '../base/error-text.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { podsCgroup } from '../model/cgroup-name.ts';
import { absoluteAllocatable } from '../model/node-allocatable.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import { Quantity } from '../model/quantity.ts';
import type { MemoryReservationPolicy } from '../model/resource-config.ts';
import { exclusiveCpusAreUnlimited } from '../options/exclusive-cpus.ts';
import { featureGates } from '../options/feature-gates/feature-gates.ts';
import { memoryReserve } from '../options/reserved-resources.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { PodCgroup } from '../ports/pod-participant.ts';
import type { CgroupManager } from './cgroup-manager.ts';
import { absolutePath } from './absolute-path.ts';
import { maxProcesses, NodeCgroups } from './node-cgroups.ts';
import type { NodeReservations } from './node-reservations.ts';
import { CgroupSetupError, openCgroups } from './open-cgroups.ts';
import { setOwnProcess } from './own-process.ts';
import { PodCgroups } from './pod-cgroups.ts';

/** Where the kernel tells of the machine. */
export interface NodePaths {
  readonly proc: string;
  readonly hugePages: string;
}

export const nodePaths: NodePaths = { proc: '/proc', hugePages: '/sys/kernel/mm/hugepages' };

export interface OpenedCgroups {
  readonly manager: CgroupManager;
  readonly node: NodeCgroups;
  readonly pods: PodCgroups;
}

/** How soon an engine that did not answer is asked again. */
const RETRY_MS = 5_000;
/** How often new processes are looked for in the root cgroup. */
const SYSTEM_MS = 60_000;

/** The pods' cgroups, from the moment when the engine has told how it uses them. */
export class PodsInCgroups {
  readonly #node: NodeParts;
  readonly #reservations: NodeReservations;
  readonly #paths: NodePaths;
  /** Undefined in it: pods have none here. */
  #opened: Promise<OpenedCgroups | undefined> | undefined;
  #now: OpenedCgroups | undefined;
  #isWithout = false;

  constructor(node: NodeParts, reservations: NodeReservations, paths: NodePaths) {
    this.#node = node;
    this.#reservations = reservations;
    this.#paths = paths;
  }

  /** Undefined: pods have no cgroups of their own here. Rejects while the engine does not answer, and where the options contradict it. */
  opened(signal: AbortSignal): Promise<OpenedCgroups | undefined> {
    // One answer for all who ask: none of them aborts it.
    this.#opened ??= this.#open(new AbortController().signal).then(
      (opened) => {
        this.#isWithout = opened === undefined;
        return (this.#now = opened);
      },
      (error: unknown) => {
        this.#opened = undefined;
        throw error;
      },
    );
    return unlessAborted(this.#opened, signal);
  }

  /** Whether it is known that pods have no cgroups of their own here. */
  get isWithout(): boolean {
    return this.#isWithout;
  }

  /** What the pod's cgroup is set to; undefined: it has none, or not yet. */
  settings(uid: PodUid): PodCgroup | undefined {
    return this.#now?.pods.settings(uid);
  }

  async parentOf(pod: Pod, signal: AbortSignal): Promise<{ readonly cgroupParent?: string }> {
    const opened = await this.opened(signal);
    return opened ? { cgroupParent: opened.pods.parentOf(pod) } : {};
  }

  /** Holds pods and daemons to their share. Rejects where the agent must not start so. */
  async enforce(signal: AbortSignal): Promise<void> {
    const { options, clock, log, folded } = this.#node;
    for (;;) {
      try {
        const opened = await this.opened(signal);
        if (opened) {
          await setOwnProcess(options, { manager: opened.manager, log, proc: this.#paths.proc });
          await opened.node.enforce(signal);
        }
        return;
      } catch (error) {
        if (error instanceof CgroupSetupError) throw error;
        if (signal.aborted) return;
        folded.v(3, 'cgroups not opened, trying again', { error });
      }
      await clock.sleep(RETRY_MS, signal);
    }
  }

  /** Keeps the machine's other processes out of the root cgroup. Resolves when `signal` aborts, or where there are no cgroups here. */
  async keepSystemProcesses(signal: AbortSignal): Promise<void> {
    const { options, clock, folded } = this.#node;
    const { moveSystemProcesses } = await import('./system-processes.ts');
    const path = absolutePath(options.systemCgroups);
    while (!signal.aborted) {
      try {
        const opened = await this.opened(signal);
        if (!opened) return;
        const count = await moveSystemProcesses(path, { manager: opened.manager, proc: this.#paths.proc });
        if (count > 0) folded.v(2, 'processes moved out of the root cgroup', { to: path, count });
      } catch (error) {
        if (signal.aborted) return;
        folded.warn('not every process could be moved out of the root cgroup, retrying', { systemCgroups: path, error });
      }
      await clock.sleep(SYSTEM_MS, signal).catch(() => {});
    }
  }

  async #open(signal: AbortSignal): Promise<OpenedCgroups | undefined> {
    const { options, cgroups, log } = this.#node;
    const without = (because: string): undefined => {
      log.warn('pods have no cgroups of their own: nothing limits a pod as a whole, nor all pods together', { because });
    };
    const manager = await openCgroups({ ...this.#node, hugePages: this.#paths.hugePages }, signal);
    if (manager === undefined) return undefined;
    if ('because' in manager) return without(manager.because);
    const gates = featureGates(options.featureGates);
    const { capacity: all, reserved } = this.#reservations;
    const pid = await maxProcesses(this.#paths.proc);
    const capacity = { ...all, ...(pid !== undefined && { pid: `${pid}` }) };
    const keepsReserved = gates.isOn('MemoryQoS') && cgroups.version === 2;
    const memoryQos: MemoryReservationPolicy | undefined = !keepsReserved
      ? undefined
      : options.memoryReservationPolicy === 'TieredReservation'
        ? 'TieredReservation'
        : 'None';
    const pods = podsCgroup(options.cgroupRoot, true);
    const opened: OpenedCgroups = {
      manager,
      pods: new PodCgroups({
        manager,
        pods,
        limiting: {
          periodUs: Math.round(options.cpuCfsQuotaPeriodMs * 1000),
          enforceCpuLimits: options.cpuCfsQuota,
          exclusiveCpus: exclusiveCpusAreUnlimited(options),
          customPeriod: true,
          memoryQos,
        },
        podPidsLimit: options.podPidsLimit,
        onResized: (uid) => this.#node.wake(uid, 'resources changed'),
      }),
      node: new NodeCgroups({
        manager,
        pods,
        options,
        capacity,
        reserved,
        qos: {
          memoryQos,
          memoryReserve: gates.isOn('QOSReserved') ? memoryReserve(options) : undefined,
          allocatableMemory: Number(Quantity.fromJson(absoluteAllocatable(capacity, reserved)['memory']).value()),
        },
        keepsReserved,
        clock: this.#node.clock,
        event: (type, reason, message) =>
          this.#node.events.record({ apiVersion: 'v1', kind: 'Node', name: options.nodeName, namespace: '' }, type, reason, message),
      }),
    };
    try {
      await opened.node.make();
    } catch (error) {
      return without(`the control groups in ${cgroups.root} cannot be written: ${errorText(error)}`);
    }
    return opened;
  }
}
