import { anySignal } from '../base/any-signal.ts';
import type { Clock } from '../base/clock.ts';
import { deadline } from '../base/deadline.ts';
import { errorText } from '../base/error-text.ts';
import { exponential } from '../base/exponential.ts';
import { GrpcError } from '../base/grpc/grpc-error.ts';
import { jitter } from '../base/jitter.ts';
import type { Logger } from '../base/logger.ts';
import type { Span } from './span.ts';

export interface SpanExporterDeps {
  /** Sends them, within that time; rejects where the collector does not take them. */
  readonly send: (spans: readonly Span[], timeoutMs: number, signal: AbortSignal) => Promise<unknown>;
  /** Ends the connection: after a failure the next sending dials again. */
  readonly hangUp: () => void;
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule' | 'sleep'>;
  readonly random: () => number;
  readonly log: Logger;
  /** As the log names it. */
  readonly endpoint: string;
}

/** OpenTelemetry's own (OTEL_BSP_*), but for the timeout, which is OTLP's (OTEL_EXPORTER_OTLP_TIMEOUT). */
export const MOST_WAITING = 2048;
export const MOST_AT_ONCE = 512;
const SEND_AFTER_MS = 5_000;
const TIMEOUT_MS = 10_000;
/** At the agent's end. */
const LAST_CHANCE_MS = 2_000;
const retryMs = exponential(1_000, 60_000);

/** After these a sending may be tried again (opentelemetry.io/docs/specs/otlp, "Failures"). */
const passing: ReadonlySet<string> = new Set([
  'Canceled',
  'DeadlineExceeded',
  'ResourceExhausted',
  'Aborted',
  'OutOfRange',
  'Unavailable',
  'DataLoss',
]);

/**
 * Spans that have ended, on their way to the collector: a batch every few seconds, one at a time. Nobody waits for it. While the collector does
 * not take them at most MOST_WAITING wait; what comes then is dropped, by its number.
 */
export class SpanExporter {
  readonly #deps: SpanExporterDeps;
  readonly #waiting: Span[] = [];
  #dropped = 0;
  /** Ends the wait for a batch. */
  #wake: (() => void) | undefined;
  #failing = false;
  #saysDrops = true;

  constructor(deps: SpanExporterDeps) {
    this.#deps = deps;
  }

  /** Dropped since the agent began. */
  get dropped(): number {
    return this.#dropped;
  }

  add(span: Span): void {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#drop(1);
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= MOST_AT_ONCE) this.#wake?.();
  }

  /** Sends until the signal aborts, and once more then what is left, for two seconds at most. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, hangUp } = this.#deps;
    let failures = 0;
    while (!signal.aborted) {
      if (failures > 0) await this.#pause(jitter(retryMs(failures), 0.2, random), signal, true);
      else if (this.#waiting.length < MOST_AT_ONCE) await this.#pause(SEND_AFTER_MS, signal, false);
      if (signal.aborted) break;
      failures = (await this.#sendSome(TIMEOUT_MS, signal)) ? 0 : failures + 1;
    }
    const last = new AbortController();
    const untilMs = clock.monotonicMs() + LAST_CHANCE_MS;
    while (this.#waiting.length > 0 && clock.monotonicMs() < untilMs) {
      if (!(await this.#sendSome(untilMs - clock.monotonicMs(), last.signal))) break;
    }
    hangUp();
  }

  /** As long, or until a batch is full: then there is no failure to be waited out. */
  async #pause(ms: number, signal: AbortSignal, isRetry: boolean): Promise<void> {
    using woken = anySignal(signal);
    if (!isRetry) this.#wake = () => woken.abort();
    await this.#deps.clock.sleep(ms, woken.signal).catch(() => {});
    this.#wake = undefined;
  }

  /** Whether there is nothing to be tried again. */
  async #sendSome(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    const spans = this.#waiting.slice(0, MOST_AT_ONCE);
    if (spans.length === 0) return true;
    const { clock, send, hangUp } = this.#deps;
    using within = deadline(clock, timeoutMs, 'the collector', signal);
    try {
      await send(spans, timeoutMs, within.signal);
      this.#waiting.splice(0, spans.length);
      this.#worksAgain();
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      hangUp();
      this.#fails(error);
      if (!(error instanceof GrpcError) || passing.has(error.code)) return false;
      // Sent again they would be refused again.
      this.#waiting.splice(0, spans.length);
      this.#drop(spans.length);
      return true;
    }
  }

  #drop(count: number): void {
    this.#dropped += count;
    if (!this.#saysDrops) return;
    this.#saysDrops = false;
    const { log, endpoint } = this.#deps;
    log.warn('spans are dropped: the collector takes them too slowly, or not at all', { endpoint, most: MOST_WAITING });
  }

  #fails(error: unknown): void {
    if (this.#failing) return;
    this.#failing = true;
    const { log, endpoint } = this.#deps;
    log.warn('spans cannot be sent, trying again: is a collector there that takes OTLP over gRPC?', { endpoint, error: errorText(error) });
  }

  #worksAgain(): void {
    if (!this.#failing && this.#saysDrops) return;
    // Where it is only slow, drops are said again once it has caught up.
    if (this.#waiting.length >= MOST_AT_ONCE) return;
    this.#failing = false;
    this.#saysDrops = true;
    const { log, endpoint } = this.#deps;
    log.info('spans are sent again', { endpoint, dropped: this.#dropped });
  }
}
