import { anySignal } from '../../base/any-signal.ts';
import type { Clock } from '../../base/clock.ts';
import { formatGoDuration } from '../../model/go-duration.ts';
import type { ContainerAccess } from '../../ports/container-access.ts';
import type { ContainerRuntime } from '../../ports/container-runtime.ts';
import type { ImageService } from '../../ports/image-service.ts';

export type Verb = Exclude<keyof ContainerRuntime, 'hints'> | keyof ImageService | Exclude<keyof ContainerAccess, 'checkpoint'>;

/** What the engine refuses with, as a daemon would. */
export class FakeEngineError extends Error {
  override readonly name = 'FakeEngineError';
}

/** `fail`: nothing happens; `lose`: it happens and the answer is lost; `hang`: nothing happens and no answer comes. */
type Fault = { readonly kind: 'fail'; readonly error: Error } | { readonly kind: 'lose' | 'hang' };

/** How many latencies a verb takes, so that traces have a real engine's proportions. */
const COST: Readonly<Record<Verb, number>> = {
  info: 1,
  listPods: 1,
  listImages: 1,
  observePod: 1,
  runSandbox: 2,
  createContainer: 2,
  startContainer: 6,
  updateContainer: 2,
  stopContainer: 1,
  removeContainer: 2,
  stopSandbox: 4,
  removeSandbox: 2,
  inspectImage: 1,
  pullImage: 40,
  imagesInUse: 1,
  removeImage: 2,
  exportImage: 20,
  exec: 4,
  attach: 2,
  dial: 1,
  logs: 1,
};

/** As long as the kubelet waits for its runtime (--runtime-request-timeout, 2 min). */
const CALL_DEADLINE_MS = 120_000;

export interface CallGateOptions {
  readonly clock: Clock;
  readonly latencyMs: number;
}

/** What every call passes: the caller's signal, the daemon's state, faults to order and the time it takes. */
export class CallGate {
  readonly #options: CallGateOptions;
  readonly #faults = new Map<Verb, Fault[]>();
  readonly #calls = new Map<Verb, number>();
  #daemon = new AbortController();
  #upAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: CallGateOptions) {
    this.#options = options;
  }

  order(verb: Verb, fault: Fault, times: number): void {
    this.#faults.set(verb, [...(this.#faults.get(verb) ?? []), ...Array.from({ length: times }, () => fault)]);
  }

  clear(): void {
    this.#faults.clear();
  }

  calls(verb: Verb): number {
    return this.#calls.get(verb) ?? 0;
  }

  get down(): boolean {
    return this.#options.clock.monotonicMs() < this.#upAtMs;
  }

  /** Every call under way is cut off; new ones are refused for `downMs`. */
  restart(downMs: number): void {
    this.#upAtMs = this.#options.clock.monotonicMs() + downMs;
    this.#daemon.abort(new FakeEngineError('the connection to the fake engine was closed'));
    this.#daemon = new AbortController();
  }

  /** Does `act` after the verb's latency. `alive` aborts with the caller's reason, or when the daemon goes away. */
  async pass<T>(verb: Verb, signal: AbortSignal, act: (alive: AbortSignal) => T | Promise<T>): Promise<T> {
    this.#calls.set(verb, this.calls(verb) + 1);
    signal.throwIfAborted();
    if (this.down) throw new FakeEngineError(`${verb}: cannot connect to the fake engine. Is it running?`);
    using either = anySignal(signal, this.#daemon.signal);
    const alive = either.signal;
    const fault = this.#faults.get(verb)?.shift();
    if (fault?.kind === 'hang') {
      await this.#options.clock.sleep(CALL_DEADLINE_MS, alive);
      throw new FakeEngineError(`${verb}: no answer within ${formatGoDuration(BigInt(CALL_DEADLINE_MS) * 1_000_000n)}`);
    }
    await this.take(COST[verb], alive);
    if (fault?.kind === 'fail') throw fault.error;
    const result = await act(alive);
    if (fault?.kind === 'lose') throw new FakeEngineError(`${verb}: the connection was closed before the answer came`);
    return result;
  }

  /** Spends time, without a timer where there is none to spend. */
  async take(latencies: number, signal: AbortSignal): Promise<void> {
    const ms = latencies * this.#options.latencyMs;
    if (ms > 0) await this.#options.clock.sleep(ms, signal);
    else await Promise.resolve();
    signal.throwIfAborted();
  }
}
