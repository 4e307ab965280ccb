import { aborted } from '../base/aborted.ts';
import { anySignal } from '../base/any-signal.ts';
import type { Logger } from '../base/logger.ts';
import type { Service } from '../base/service.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { type Container, type Pod, type PodUid, aboutPod } from '../model/pod.ts';
import type { ContainerHooks } from '../ports/container-hooks.ts';
import type { ContainerId } from '../ports/container-runtime.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import { type Hook, runHook, type RunHookDeps } from './run-hook.ts';

export interface HookRunnerDeps extends RunHookDeps {
  readonly log: Logger;
  readonly events: EventRecorder;
}

/** pkg/kubelet/kuberuntime minimumGracePeriodInSeconds: what a hook leaves of the grace period at least. */
const LEAST_GRACE_MS = 2000;

interface PreStop {
  readonly uid: PodUid;
  /** Never rejects. */
  readonly ended: Promise<void>;
  readonly aborter: AbortController;
  state: 'running' | 'ended' | 'overdue';
}

/** Runs the hooks of containers. They end with their container, and with the agent. */
export class HookRunner implements ContainerHooks, Service {
  readonly name = 'hooks';
  readonly #deps: HookRunnerDeps;
  readonly #agent = new AbortController();
  readonly #preStops = new Map<ContainerId, PreStop>();
  readonly #postStarts = new Map<ContainerId, AbortController>();

  constructor(deps: HookRunnerDeps) {
    this.#deps = deps;
  }

  async run(signal: AbortSignal): Promise<void> {
    await aborted(signal);
    this.#agent.abort(new Error('the agent stops'));
  }

  async postStart(
    pod: Pod,
    container: Container,
    id: ContainerId,
    signal: AbortSignal,
    failed: (why: string, signal: AbortSignal) => Promise<void>,
  ): Promise<string | undefined> {
    const hook = container.lifecycle?.postStart;
    if (!hook) return undefined;
    const aborter = new AbortController();
    this.#postStarts.set(id, aborter);
    const run = async (): Promise<string | undefined> => {
      try {
        const why = await this.#execute(hook, pod, container, id, aborter.signal);
        if (why !== undefined) await failed(why, this.#agent.signal);
        return why;
      } finally {
        this.#postStarts.delete(id);
      }
    };
    return unlessAborted(run(), signal);
  }

  async preStop(pod: Pod, container: Container, id: ContainerId, graceMs: number, signal: AbortSignal): Promise<number> {
    const hook = container.lifecycle?.preStop;
    if (!hook || graceMs <= 0 || graceSecondsOf(pod) <= 0) return graceMs;
    const { clock, log } = this.#deps;
    const preStop = this.#preStops.get(id) ?? this.#begin(hook, pod, container, id);
    if (preStop.state !== 'running') return graceMs;
    const beganAtMs = clock.monotonicMs();
    const waiting = new AbortController();
    const overdue = clock.sleep(graceMs, waiting.signal).then(
      () => {
        if (preStop.state === 'running') preStop.state = 'overdue';
        log.v(2, 'preStop hook did not end within the grace period', { ...aboutPod(pod), container: container.name, graceMs });
      },
      () => {},
    );
    try {
      await unlessAborted(Promise.race([preStop.ended, overdue]), signal);
    } finally {
      waiting.abort(new Error('no caller waits any more'));
    }
    const leftMs = graceMs - Math.floor((clock.monotonicMs() - beganAtMs) / 1000) * 1000;
    return Math.max(leftMs, Math.min(graceMs, LEAST_GRACE_MS));
  }

  ended(id: ContainerId): void {
    this.#preStops.get(id)?.aborter.abort(containerEnded());
    this.#preStops.delete(id);
    this.#postStarts.get(id)?.abort(containerEnded());
  }

  forget(uid: PodUid): void {
    for (const [id, preStop] of this.#preStops) if (preStop.uid === uid) this.ended(id);
  }

  #begin(hook: Hook, pod: Pod, container: Container, id: ContainerId): PreStop {
    const { events } = this.#deps;
    const aborter = new AbortController();
    const run = async (): Promise<void> => {
      const why = await this.#execute(hook, pod, container, id, aborter.signal).catch(() => undefined);
      if (preStop.state === 'running') preStop.state = 'ended';
      // As today's kubelet: what a hook runs and prints may be secret, and events are read by many.
      if (why !== undefined) events.record(pod, 'Warning', 'FailedPreStopHook', 'PreStopHook failed', container.name);
    };
    const preStop: PreStop = { uid: pod.metadata.uid, aborter, state: 'running', ended: Promise.resolve().then(run) };
    this.#preStops.set(id, preStop);
    return preStop;
  }

  async #execute(hook: Hook, pod: Pod, container: Container, id: ContainerId, signal: AbortSignal): Promise<string | undefined> {
    const { log } = this.#deps;
    using either = anySignal(signal, this.#agent.signal);
    const why = await runHook(hook, { pod, container, id }, this.#deps, either.signal);
    if (why !== undefined) log.v(1, 'lifecycle hook failed', { ...aboutPod(pod), container: container.name, why });
    return why;
  }
}

const containerEnded = (): Error => new Error('the container has ended');

/** A pod that is deleted at once has no time for a hook. */
function graceSecondsOf({ metadata, spec }: Pod): number {
  return metadata.deletionGracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? LEAST_GRACE_MS / 1000;
}
