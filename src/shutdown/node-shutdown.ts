import { BehaviorSubject, filter, type Observable, Subject } from 'rxjs';
import { anySignal, type AnySignal } from '../base/any-signal.ts';
import { firstOf } from '../base/first-of.ts';
import { exponential } from '../base/exponential.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import { isStaticPod } from '../model/mirror-pod.ts';
import { nodeReference } from '../model/object-reference.ts';
import type { PodRefusal } from '../model/pod-admission.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { endPods, TERMINATED } from './end-pods.ts';
import type { Logind } from './logind.ts';
import { type GraceOfPriority, secondsIn } from './shutdown-table.ts';
import type { ShutdownTimes } from './shutdown-times.ts';

export interface NodeShutdownDeps extends Pick<
  NodeParts,
  'clock' | 'log' | 'pods' | 'statuses' | 'updates' | 'ends' | 'cluster' | 'events' | 'node' | 'tell'
> {
  readonly logind: Logind;
  readonly table: readonly GraceOfPriority[];
  readonly times: ShutdownTimes;
}

/** In the kubelet's words (pkg/kubelet/nodeshutdown). */
const REFUSED = { reason: 'NodeShutdown', message: 'Pod was rejected as the node is shutting down.' } as const;
const FAULT = 'node is shutting down';

const MAX_RETRY_MS = 60_000;
const retryMs = exponential(1_000, MAX_RETRY_MS);
/** How often, and how long after each other, it is asked whether logind has taken the longer delay. */
const RAISED_AFTER_MS = [100, 200, 400, 800, 1_600];

/**
 * Delays the shutdown of the machine until its pods have ended. A shutdown that is called off opens the node again, and its static pods begin
 * again; those of the API have failed for good.
 */
export class NodeShutdown {
  /** Emits when the machine goes down, or does not after all. */
  readonly changes: Observable<unknown>;
  readonly #changes = new Subject<void>();
  readonly #deps: NodeShutdownDeps;
  readonly #faults = new OngoingFaults<string>();
  /** The ending of the pods; undefined: the machine does not go down. */
  #underWay: AnySignal | undefined;
  /** How long logind waits; undefined: that is not known yet. */
  #delayMs: number | undefined;
  /** Until all pods have ended. */
  readonly #delays = new BehaviorSubject(true);

  constructor(deps: NodeShutdownDeps) {
    this.#deps = deps;
    this.changes = this.#changes.asObservable();
  }

  get isShuttingDown(): boolean {
    return this.#underWay !== undefined;
  }

  /** Why no pod begins here any more. */
  refusal(): PodRefusal | undefined {
    return this.isShuttingDown ? REFUSED : undefined;
  }

  errors(): readonly string[] {
    return this.isShuttingDown ? [FAULT] : [];
  }

  /** Resolves when `signal` has aborted: nothing is delayed any more. */
  async run(signal: AbortSignal): Promise<void> {
    this.#deps.tell.nodeShutdown(this.#deps.times.load());
    await Promise.all([
      this.#keepTrying('watch', () => this.#watch(signal), signal),
      this.#keepTrying('lock', () => this.#hold(signal), signal),
    ]);
    this.#underWay?.abort(signal.reason);
  }

  async #keepTrying(what: 'watch' | 'lock', attempt: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    for (let failures = 0; !signal.aborted;) {
      const sinceMs = clock.monotonicMs();
      try {
        await attempt();
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        // What worked for long is tried soon again.
        failures = clock.monotonicMs() - sinceMs > MAX_RETRY_MS ? 1 : failures + 1;
        if (this.#faults.fault(what, error))
          log.warn('the shutdown of the machine cannot be delayed for pods to end: trying again, said once', { what, error });
        await clock.sleep(retryMs(failures), signal).catch(() => {});
      }
    }
  }

  #works(what: 'watch' | 'lock'): void {
    if (this.#faults.over(what)) this.#deps.log.info('the shutdown of the machine can be delayed again', { what });
  }

  /** Hears of shutdowns; a change that was missed before is found by asking. */
  async #watch(signal: AbortSignal): Promise<void> {
    const { logind } = this.#deps;
    const asked = Promise.withResolvers<never>();
    asked.promise.catch(() => {});
    const onReady = (): void => {
      logind.isPreparing(signal).then((goesDown) => {
        this.#works('watch');
        if (goesDown !== this.isShuttingDown) this.#prepare(goesDown, signal);
      }, asked.reject);
    };
    using own = anySignal(signal);
    try {
      await Promise.race([logind.watch({ onReady, onPrepare: (goesDown) => this.#prepare(goesDown, signal) }, own.signal), asked.promise]);
    } finally {
      own.abort();
    }
  }

  /** Has the lock from when it is wanted until it is not any more. */
  async #hold(signal: AbortSignal): Promise<void> {
    const { logind, log } = this.#deps;
    await firstOf(this.#delays.pipe(filter((wanted) => wanted)), signal);
    await this.#agreeOnDelay(signal);
    using own = anySignal(signal);
    const released = new Error('nothing is to be delayed any more');
    const subscription = this.#delays.pipe(filter((wanted) => !wanted)).subscribe(() => own.abort(released));
    try {
      await logind.delay(() => {
        this.#works('lock');
        log.info('the shutdown of the machine waits for pods', { seconds: (this.#delayMs ?? 0) / 1000 });
      }, own.signal);
    } catch (error) {
      if (error !== released) throw error;
    } finally {
      subscription.unsubscribe();
    }
  }

  /** Lets logind wait as long as the pods may need; where it does not, they have less. */
  async #agreeOnDelay(signal: AbortSignal): Promise<void> {
    const { clock, log, logind, table } = this.#deps;
    const seconds = secondsIn(table);
    this.#delayMs = await logind.delayMaxMs(signal);
    if (this.#delayMs >= seconds * 1000) return;
    await logind.raiseDelayMax(seconds, signal);
    for (const afterMs of RAISED_AFTER_MS) {
      this.#delayMs = await logind.delayMaxMs(signal);
      if (this.#delayMs >= seconds * 1000) return;
      await clock.sleep(afterMs, signal);
    }
    log.warn('logind does not delay a shutdown for as long as pods may need: InhibitDelayMaxSec is less than their periods together', {
      seconds: this.#delayMs / 1000,
      wanted: seconds,
    });
  }

  #prepare(goesDown: boolean, signal: AbortSignal): void {
    const { events, node, log } = this.#deps;
    if (goesDown && this.#underWay && this.#delays.value) return;
    if (!goesDown && !this.#underWay) return;
    const what = `Shutdown manager detected shutdown ${goesDown ? 'event' : 'cancellation'}`;
    log.info(goesDown ? 'the machine goes down: pods end' : 'the machine does not go down after all');
    events.record(nodeReference(node.name), 'Normal', 'NodeShutdown', what);
    if (goesDown) void this.#begin(signal);
    else this.#callOff();
    this.#changes.next();
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const { clock, log, tell, times, table } = this.#deps;
    this.#underWay?.[Symbol.dispose]();
    const own = anySignal(signal);
    this.#underWay = own;
    const startedAtMs = clock.now();
    const note = (endedAtMs: number | undefined): Promise<void> => {
      tell.nodeShutdown({ startedAtMs, endedAtMs });
      return times.save({ startedAtMs, endedAtMs }, own.signal);
    };
    void note(undefined);
    try {
      await endPods(this.#deps, table, this.#delayMs ?? secondsIn(table) * 1000, own.signal);
    } catch (error) {
      if (!own.signal.aborted) log.error('the ending of pods failed', { error });
    }
    if (own.signal.aborted) return;
    await note(clock.now());
    if (own.signal.aborted) return;
    log.info('pods have ended: the machine may go down');
    this.#delays.next(false);
  }

  #callOff(): void {
    const { pods, statuses, ends } = this.#deps;
    this.#underWay?.abort(new Error('the shutdown was called off'));
    this.#underWay = undefined;
    this.#delays.next(true);
    for (const { pod } of pods.list()) {
      const { uid } = pod.metadata;
      const wasRefused = statuses.get(uid)?.reason === REFUSED.reason;
      if (isStaticPod(pod) && (wasRefused || ends.of(uid)?.reason === TERMINATED)) ends.startOver(uid);
    }
  }
}
