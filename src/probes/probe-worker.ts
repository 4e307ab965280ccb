import { map, Observable, startWith, Subject, switchMap, takeUntil, takeWhile, tap, timer } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { coalesceMap } from '../base/coalesce-map.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { momentOf, monotonicOf } from '../base/moment.ts';
import { type ContainerId, containerIdOf } from '../model/container-id.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import { type Container, type ContainerStatus, type Pod, type PodStatus, type PodUid, aboutPod } from '../model/pod.ts';
import type { ProbeResult } from '../model/probe-result.ts';
import { mayRestart, mayRestartAll } from '../model/should-restart-container.ts';
import { parseTime } from '../model/time.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Happenings } from '../ports/happenings.ts';
import { initialResults, type ProbeKind, probeTitles } from './probe-kind.ts';
import type { ProbeOutcome } from './probe-outcome.ts';
import type { ProbeResults } from './probe-results.ts';
import type { Probe, RunProbe } from './run-probe.ts';

export interface ProbeWorkerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly results: ProbeResults;
  readonly statusOf: (uid: PodUid) => PodStatus | undefined;
  readonly runProbe: RunProbe;
  readonly tell: Pick<Happenings, 'probeExecuted' | 'probeTried'>;
}

export interface ProbeRecord {
  /** When it began, as a date. */
  readonly atMs: number;
  readonly tookMs: number;
  readonly containerId: ContainerId;
  readonly outcome: ProbeOutcome['result'] | 'error';
  readonly message: string;
}

/** pkg/kubelet/prober: an execution that gives no outcome is repeated at once. */
const MAX_TRIES = 3;
const MAX_RECORDS = 10;

/**
 * One probe of one container (the worker of pkg/kubelet/prober). It lives longer than the container: each instance has an id of its own.
 * INVARIANTS: the results that it stores are about `#id`; while it holds it executes nothing.
 */
export class ProbeWorker {
  readonly kind: ProbeKind;
  readonly container: Container;
  readonly probe: Probe;
  readonly #deps: ProbeWorkerDeps;
  readonly #kicks = new Subject<void>();
  readonly #stop = new Subject<void>();
  readonly #history: ProbeRecord[] = [];
  /** On the clock's monotonic time: when the container was looked at last, and since when it runs, by the date that was reported of that. */
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #running: { readonly startedAt: string | undefined; readonly sinceMs: number } | undefined;
  #pod: Pod;
  #id: ContainerId | undefined;
  #kickedFor: string | undefined;
  #lastResult: ProbeResult | undefined;
  #run = 0;
  #onHold = false;
  #state: 'probing' | 'stopped' | 'ended' = 'probing';

  constructor(deps: ProbeWorkerDeps, kind: ProbeKind, pod: Pod, container: Container, probe: Probe) {
    this.#deps = deps;
    this.kind = kind;
    this.#pod = pod;
    this.container = container;
    this.probe = probe;
  }

  get pod(): Pod {
    return this.#pod;
  }
  /** After a failure of liveness or startup, until there is another container. */
  get onHold(): boolean {
    return this.#onHold;
  }
  get state(): 'probing' | 'stopped' | 'ended' {
    return this.#state;
  }
  get containerId(): ContainerId | undefined {
    return this.#id;
  }
  /** How often the last outcome has come in a row. */
  get run(): number {
    return this.#run;
  }
  /** Oldest first. */
  get history(): readonly ProbeRecord[] {
    return this.#history;
  }

  declared(pod: Pod): void {
    this.#pod = pod;
  }

  /** Probes now, and from now on each period. */
  kick(): void {
    this.#kicks.next();
  }

  /** A container that has started need not wait for its turn to be found ready: once for each. */
  started({ containerID = '' }: ContainerStatus): void {
    if (this.#state !== 'probing' || this.#kickedFor === containerID) return;
    this.#kickedFor = containerID;
    if (this.#deps.results.get(this.kind, containerIdOf(containerID)) !== 'success') this.kick();
  }

  /** Executes nothing any more; what was found stays. */
  stop(): void {
    if (this.#state === 'probing') this.#state = 'stopped';
    this.#stop.next();
  }

  /** Stops, and takes back what was found. */
  dispose(): void {
    this.stop();
    if (this.#id !== undefined) this.#deps.results.remove(this.kind, this.#id);
  }

  /** Cold: probes after `firstDelayMs` and then each period while it is subscribed to. Never errors; completes when there is nothing left to probe. */
  probing(firstDelayMs: number): Observable<boolean> {
    const periodMs = Math.max(1, this.probe.periodSeconds ?? 10) * 1000;
    return new Observable((subscriber) => {
      const aborter = new AbortController();
      subscriber.add(() => aborter.abort(new Error('probing has stopped')));
      const ticks = this.#kicks.pipe(
        map(() => 0),
        startWith(firstDelayMs),
        switchMap((delayMs) => timer(delayMs, periodMs, this.#deps.clock)),
        coalesceMap(() => this.doProbe(aborter.signal)),
        tap((goOn) => goOn || this.#end()),
        takeWhile((goOn) => goOn),
        takeUntil(this.#stop),
      );
      if (this.#state === 'probing') subscriber.add(ticks.subscribe(subscriber));
      else subscriber.complete();
    });
  }

  /** One turn: looks at the container and executes the probe if it is due. Resolves with whether to go on. Never rejects. */
  doProbe(signal: AbortSignal): Promise<boolean> {
    return this.#turn(signal).catch((error: unknown) => {
      if (!signal.aborted) this.#deps.log.error('probe worker failed', { ...this.#about(), error });
      return true;
    });
  }

  /** There is nothing left to probe. */
  #end(): void {
    this.#state = 'ended';
    if (this.#id !== undefined) this.#deps.results.remove(this.kind, this.#id);
  }

  async #turn(signal: AbortSignal): Promise<boolean> {
    const { results } = this.#deps;
    const { metadata, spec } = this.#pod;
    const status = this.#deps.statusOf(metadata.uid);
    if (status === undefined) return true;
    if (isTerminalPhase(status.phase)) return false;
    const found = containerStatus(status, this.container.name);
    const runningMs = this.#runningMs(found);
    if (!found?.containerID) return true;
    this.#seen(containerIdOf(found.containerID));
    if (this.#id === undefined || this.#onHold) return true;
    const id = this.#id;

    const { running, terminated } = found.state ?? {};
    if (running === undefined) {
      results.set(this.kind, id, 'failure', metadata.uid);
      return terminated === undefined || mayRestart(spec, this.container) || mayRestartAll(spec);
    }
    if (Math.trunc(runningMs / 1000) < (this.probe.initialDelaySeconds ?? 0)) return true;
    // Until it has started there is only the startup probe, and from then on only the others.
    if ((found.started === true) === (this.kind === 'startup')) return true;

    const result = await this.#execute(id, status, signal);
    if (result === undefined || signal.aborted) return true;
    this.#judge(id, result);
    return true;
  }

  /** How long the container has run: by its date when it is first seen to run, and from then on by a clock that cannot be set. */
  #runningMs(status: ContainerStatus | undefined): number {
    const { clock } = this.#deps;
    const { running } = status?.state ?? {};
    const nowMs = clock.monotonicMs();
    // Whatever did not run when it was looked at last has begun since.
    const earliestMs = this.#lookedAtMs;
    this.#lookedAtMs = nowMs;
    if (running === undefined) {
      this.#running = undefined;
      return 0;
    }
    const { startedAt } = running;
    if (this.#running === undefined || this.#running.startedAt !== startedAt)
      this.#running = { startedAt, sinceMs: monotonicOf(parseTime(startedAt) ?? clock.now(), clock, earliestMs) };
    return nowMs - this.#running.sinceMs;
  }

  /** Another id is another container: what was found about the last one does not count. */
  #seen(id: ContainerId): void {
    const { results } = this.#deps;
    if (this.#id === id) return;
    if (this.#id !== undefined) results.remove(this.kind, this.#id);
    this.#id = id;
    results.set(this.kind, id, results.restored(this.kind, id) ?? initialResults[this.kind], this.#pod.metadata.uid);
    this.#onHold = false;
  }

  #judge(id: ContainerId, result: ProbeResult): void {
    this.#run = this.#lastResult === result ? this.#run + 1 : 1;
    this.#lastResult = result;
    const { failureThreshold = 3, successThreshold = 1 } = this.probe;
    if (this.#run < (result === 'failure' ? failureThreshold : successThreshold)) return;
    const before = this.#deps.results.get(this.kind, id);
    if (before !== result) this.#deps.log.v(2, 'probe result changed', { ...this.#about(), from: before, to: result });
    this.#deps.results.set(this.kind, id, result, this.#pod.metadata.uid);
    if (this.kind === 'readiness' || result !== 'failure') return;
    // It is about to be stopped: nothing is executed in it until there is another.
    this.#onHold = true;
    this.#run = 0;
  }

  /** Undefined: it could not be executed, and says nothing. */
  async #execute(id: ContainerId, status: PodStatus, signal: AbortSignal): Promise<ProbeResult | undefined> {
    const { clock, tell } = this.#deps;
    const began = momentOf(clock);
    const outcome = await this.#tries({ id, podIp: status.podIP }, signal);
    if (signal.aborted || this.#state !== 'probing') return undefined;
    const tookMs = clock.monotonicMs() - began.monotonicMs;
    const record =
      outcome instanceof Error
        ? { outcome: 'error' as const, message: errorText(outcome) }
        : { outcome: outcome.result, message: outcome.output };
    this.#history.push({ atMs: began.dateMs, tookMs, containerId: id, ...record });
    if (this.#history.length > MAX_RECORDS) this.#history.shift();
    this.#tell(record.outcome, record.message);
    tell.probeTried({
      uid: this.#pod.metadata.uid,
      container: this.container.name,
      kind: this.kind,
      atMs: began.dateMs,
      tookMs,
      ...record,
    });
    if (record.outcome === 'error') return undefined;
    const passed = record.outcome === 'success' || record.outcome === 'warning';
    tell.probeExecuted({
      kind: this.kind,
      pod: this.#pod,
      container: this.container.name,
      result: passed ? 'successful' : 'failed',
      tookMs,
    });
    return passed ? 'success' : 'failure';
  }

  async #tries(
    { id, podIp }: { readonly id: ContainerId; readonly podIp: string | undefined },
    signal: AbortSignal,
  ): Promise<ProbeOutcome | Error> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#deps.runProbe(this.probe, { container: this.container, id, podIp }, signal);
      } catch (error) {
        if (tries === MAX_TRIES || signal.aborted) return error instanceof Error ? error : new Error(errorText(error));
      }
    }
  }

  #tell(outcome: ProbeRecord['outcome'], message: string): void {
    const { events, log } = this.#deps;
    const title = probeTitles[this.kind];
    const record = (reason: 'Unhealthy' | 'ProbeWarning', text: string): void =>
      events.record(this.#pod, 'Warning', reason, text, this.container.name);
    if (outcome === 'error') record('Unhealthy', `${title} probe errored: ${message}`);
    else if (outcome === 'warning') record('ProbeWarning', `${title} probe warning: ${message}`);
    else if (outcome !== 'success') record('Unhealthy', `${title} probe failed: ${message}`);
    log.v(outcome === 'success' || outcome === 'warning' ? 4 : 2, 'probe', { ...this.#about(), outcome, message });
  }

  #about(): Readonly<Record<string, unknown>> {
    return { ...aboutPod(this.#pod), container: this.container.name, probe: this.kind };
  }
}

/** Of an app container, or of a sidecar. */
export function containerStatus({ containerStatuses, initContainerStatuses }: PodStatus, name: string): ContainerStatus | undefined {
  return [...(containerStatuses ?? []), ...(initContainerStatuses ?? [])].find((status) => status.name === name);
}
