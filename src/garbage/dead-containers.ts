import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { type ContainerGarbage, containerGarbage, type ContainerGcPolicy, type ContainerGcWorld } from '../model/container-gc.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import type { PodUid } from '../model/pod.ts';
import type { ContainerId, ContainerRuntime, ObservedPod, PodSummary, SandboxId } from '../ports/container-runtime.ts';
import type { PodStatuses } from '../ports/pod-statuses.ts';
import type { PodStore } from '../ports/pod-store.ts';

export interface DeadContainersDependencies {
  readonly runtime: Pick<ContainerRuntime, 'listPods' | 'observePod' | 'stopContainer' | 'removeContainer' | 'removeSandbox'>;
  readonly pods: Pick<PodStore, 'get' | 'synced'>;
  readonly statuses: Pick<PodStatuses, 'get'>;
  readonly policy: () => ContainerGcPolicy;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/**
 * Dead containers that are too many for the node, and those of pods that have ended when the node needs their room. What a pod keeps of its own
 * containers its own plan decides, and what is left of a pod that is not declared goes with that.
 */
export class DeadContainers {
  readonly #needs: DeadContainersDependencies;

  constructor(needs: DeadContainersDependencies) {
    this.#needs = needs;
  }

  /** Removes the oldest of those that are more than the node keeps. What was listed last says whether there can be any. */
  async enforceLimit(listed: readonly PodSummary[], signal: AbortSignal): Promise<void> {
    const { maxContainers } = this.#needs.policy();
    const dead = listed.reduce((sum, { parts }) => sum + parts.filter(isDead).length, 0);
    if (maxContainers >= 0 && dead > maxContainers) await this.#collect(listed, false, signal);
  }

  /** Also removes all of pods that have ended. */
  async removeUnused(signal: AbortSignal): Promise<void> {
    await this.#collect(await this.#needs.runtime.listPods(signal), true, signal);
  }

  async #collect(listed: readonly PodSummary[], evictTerminatedPods: boolean, signal: AbortSignal): Promise<void> {
    const { runtime, policy, pods } = this.#needs;
    const observed: ObservedPod[] = [];
    for (const { uid, parts } of listed) {
      if (pods.get(uid) && parts.some((part) => isDead(part) || part.container === undefined))
        observed.push(await runtime.observePod(uid, signal));
    }
    await this.#remove(containerGarbage(this.#world(observed, evictTerminatedPods), policy()), signal);
  }

  #world(observed: readonly ObservedPod[], evictTerminatedPods: boolean): ContainerGcWorld {
    const { clock, pods } = this.#needs;
    const ageMs = (createdAtMs: number): number => clock.now() - createdAtMs;
    return {
      containers: observed.flatMap(({ uid, containers }) =>
        containers.map(({ id, name, sandboxId, state: { phase }, createdAtMs }) => {
          // By its newest instance a pod that goes on knows what comes next.
          const isNeeded = !this.#hasEnded(uid) && containers.find((each) => each.name === name)?.id === id;
          return { id, uid, name, sandbox: sandboxId, phase: isNeeded ? ('running' as const) : phase, ageMs: ageMs(createdAtMs) };
        }),
      ),
      // Those of a pod that goes on are its own plan's: it may count its age from one.
      sandboxes: observed.flatMap(({ uid, sandboxes }) =>
        (this.#hasEnded(uid) ? sandboxes : []).map(({ id, ready, createdAtMs }) => ({ id, uid, ready, ageMs: ageMs(createdAtMs) })),
      ),
      podOf: (uid) => ({ deleted: false, terminated: this.#hasEnded(uid as PodUid) }),
      allSourcesReady: pods.synced,
      evictTerminatedPods,
    };
  }

  #hasEnded(uid: PodUid): boolean {
    return isTerminalPhase(this.#needs.statuses.get(uid)?.phase);
  }

  /** One that cannot be removed is reported, and the next is. */
  async #remove({ containers, sandboxes }: ContainerGarbage, signal: AbortSignal): Promise<void> {
    const { runtime, log } = this.#needs;
    const orSay = async (what: Readonly<Record<string, unknown>>, work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        signal.throwIfAborted();
        log.warn('what is left of a pod cannot be removed', { ...what, error });
      }
    };
    for (const { id, uid, name, phase } of containers) {
      await orSay({ uid, container: name, id }, async () => {
        // It may run.
        if (phase === 'unknown') await runtime.stopContainer(id as ContainerId, 0, signal);
        await runtime.removeContainer(id as ContainerId, signal);
      });
    }
    for (const { id, uid } of sandboxes) await orSay({ uid, id }, () => runtime.removeSandbox(id as SandboxId, signal));
    if (containers.length + sandboxes.length > 0) {
      log.info('dead containers and sandboxes removed', { containers: containers.length, sandboxes: sandboxes.length });
    }
  }
}

const isDead = ({ container, phase }: PodSummary['parts'][number]): boolean => container !== undefined && phase !== 'running';
