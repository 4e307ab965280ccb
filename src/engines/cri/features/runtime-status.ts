import { Subject, type Observable } from 'rxjs';
import { aborted } from '../../../base/aborted.ts';
import type { Clock } from '../../../base/clock.ts';
import { deadline } from '../../../base/deadline.ts';
import type { Logger } from '../../../base/logger.ts';
import type { Staged } from '../../../ports/staged.ts';
import type { KnownFeatures } from '../../common/known-features.ts';
import { type RuntimeCondition, RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';

/** As often as a kubelet asks (pkg/kubelet/kubelet.go: updateRuntimeUp); pods wait for what is not ready. */
const EACH_MS = 5_000;
const EACH_MS_NOT_READY = 1_000;
/** Pods are not kept waiting for a runtime that hangs, nor is the start of the agent. */
const ANSWER_MS = 10_000;

export interface RuntimeStatusDeps {
  readonly client: Pick<CriClient, 'call'>;
  /** Asked once before the first pod is looked at, so that it is known what the runtime can do. */
  readonly features: Pick<KnownFeatures, 'now'>;
  readonly clock: Pick<Clock, 'sleep' | 'monotonicMs' | 'schedule'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

interface Faults {
  readonly runtime: string | undefined;
  readonly network: string | undefined;
}

const none: Faults = { runtime: undefined, network: undefined };

/**
 * Whether the runtime and its network are ready, as it says itself, looked at every 5 seconds, every second while it is not. What was said last
 * stands as long as it does not answer: that it does not is found by those who list its pods.
 */
export class RuntimeStatus {
  readonly #deps: RuntimeStatusDeps;
  readonly #changes = new Subject<void>();
  readonly #looked = Promise.withResolvers<void>();
  #faults = none;

  constructor(deps: RuntimeStatusDeps) {
    this.#deps = deps;
  }

  /** Why it can run no containers, in the kubelet's words; undefined: it can, or has not said yet. */
  fault(): string | undefined {
    return this.#faults.runtime;
  }

  /** Why it can connect no pods, likewise. */
  networkFault(): string | undefined {
    return this.#faults.network;
  }

  /** Emits when pods that waited may be connected. */
  get networkChanges(): Observable<void> {
    return this.#changes;
  }

  get service(): Staged {
    return {
      name: 'runtime status',
      stage: 'before pods',
      run: (signal) => this.#follow(signal),
      // Once it has answered, or failed to: pods are not kept waiting for a runtime that is away.
      ready: (signal) => Promise.race([this.#looked.promise, aborted(signal)]),
    };
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const asked = this.#askWhatItCan(signal).catch(() => {});
    while (!signal.aborted) {
      await this.#look(signal).catch(() => {});
      await asked;
      this.#looked.resolve();
      const { runtime, network } = this.#faults;
      await clock.sleep((runtime ?? network) ? EACH_MS_NOT_READY : EACH_MS, signal).catch(() => {});
    }
  }

  async #askWhatItCan(signal: AbortSignal): Promise<void> {
    const { features, clock } = this.#deps;
    using within = deadline(clock, ANSWER_MS, 'the answer', signal);
    await features.now(within.signal);
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#deps;
    const { status } = await client.call(RuntimeService.method.status, {}, signal, ANSWER_MS);
    const before = this.#faults;
    const now = faultsIn(status?.conditions ?? []);
    this.#faults = now;
    for (const what of ['runtime', 'network'] as const) {
      if (now[what] === before[what]) continue;
      const whose = what === 'runtime' ? 'the container runtime' : 'the network of the container runtime';
      if (now[what] === undefined) log.info(`${whose} is ready again`);
      else log.warn(`${whose} is not ready; asking again`, { said: now[what], everyMs: EACH_MS_NOT_READY });
    }
    if (before.network !== undefined && now.network === undefined) this.#changes.next();
  }
}

/** In the words of pkg/kubelet/kubelet.go: updateRuntimeUp. */
export function faultsIn(conditions: readonly RuntimeCondition[]): Faults {
  const notReady = (type: string): string | undefined => {
    const found = conditions.find((each) => each.type === type);
    if (found === undefined) return '<nil>';
    return found.status ? undefined : `${found.type}=false reason:${found.reason} message:${found.message}`;
  };
  const [network, runtime] = [notReady('NetworkReady'), notReady('RuntimeReady')];
  return {
    network: network && `container runtime network not ready: ${network}`,
    runtime: runtime && `container runtime not ready: ${runtime}`,
  };
}
