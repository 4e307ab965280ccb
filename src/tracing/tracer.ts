import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { momentOf, type Moment } from '../base/moment.ts';
import type { PodUid } from '../model/pod.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { TracedWork, Tracing } from '../ports/tracing.ts';
import { cut, describeLook, describeWork, engineCallName, type Described } from './describe-work.ts';
import type { Span, SpanAttributes } from './span.ts';
import { isSampled, type SpanIds } from './span-ids.ts';
import { formatTraceParent, parseTraceParent } from './trace-parent.ts';

export interface TracerDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly ids: SpanIds;
  /** Of traces that begin here. */
  readonly samplingRatePerMillion: number;
  readonly onEnded: (span: Span) => void;
}

/** Work under way. */
interface Open {
  readonly work: TracedWork;
  /** Undefined: it is not sampled, nor is what belongs to it. */
  readonly span: OpenSpan | undefined;
  hasEnded: boolean;
}

interface OpenSpan extends Pick<Span, 'traceId' | 'spanId' | 'parentSpanId'> {
  /** When the trace began here: all its times are counted from it, so that a date that is set meanwhile tears nothing apart. */
  readonly anchor: Moment;
  readonly startMs: number;
  /** Of the look that it belongs to. */
  readonly uid: PodUid | undefined;
  described: Described;
  more: SpanAttributes;
  error: string | undefined;
}

type Heard = Pick<Happenings, 'reconciled' | 'engineCalled' | 'apiRequested' | 'volumeMounted'>;

/**
 * Makes spans of work, each below the one that it is done for. Whether a trace is sampled is decided once, where it begins, by who sent the
 * request or by the rate (parent-based, as the kubelet's: component-base/tracing).
 *
 * What outlives its work, such as a probe that a look at a pod began, belongs to no trace any more.
 */
export class Tracer implements Tracing {
  readonly #deps: TracerDeps;
  readonly #current = new AsyncLocalStorage<Open>();

  /** What belongs to spans, or becomes one when it is over. */
  readonly listener: Heard = {
    reconciled: (record) => {
      const span = this.#spanOf('look');
      if (span === undefined) return;
      const { name, attributes } = describeLook(record);
      span.described = { ...span.described, name, attributes };
      if (record.failed !== undefined) span.error = cut(record.failed);
    },
    engineCalled: ({ what, tookMs, failed }) => {
      const attributes = { 'rxlet.engine.call': cut(what.replace(/\?.*/s, '')) };
      const error = failed === undefined ? undefined : failed === 'timeout' ? 'no answer in time' : 'the call failed';
      this.#over({ name: engineCallName(what), kind: 'client', attributes }, tookMs, error);
    },
    apiRequested: ({ status }) => {
      const span = this.#spanOf('ask the API');
      if (span === undefined || status === undefined) return;
      span.more = { 'http.response.status_code': status };
      if (status >= 400) span.error = `${status}`;
    },
    volumeMounted: ({ plugin, tookMs, failed }) =>
      this.#over(
        { name: 'mountVolume', kind: 'internal', attributes: { 'rxlet.volume.plugin': plugin } },
        tookMs,
        failed ? 'the volume could not be mounted' : undefined,
      ),
  };

  constructor(deps: TracerDeps) {
    this.#deps = deps;
  }

  within<T>(work: TracedWork, run: (traceparent: string | undefined) => Promise<T>): Promise<T> {
    const outer = this.#outer();
    // Below what is not sampled, nothing is.
    if (outer && !outer.span && work.do !== 'serve') return run(undefined);
    const open: Open = { work, span: this.#begin(work, outer?.span), hasEnded: false };
    const end = (error?: unknown): void => this.#end(open, error);
    const header = open.span && formatTraceParent({ ...open.span, sampled: true });
    return this.#current.run(open, () => {
      let result: Promise<T>;
      try {
        result = run(header);
      } catch (error) {
        end(error);
        throw error;
      }
      result.then(() => end(), end);
      return result;
    });
  }

  #outer(): Open | undefined {
    const open = this.#current.getStore();
    return open?.hasEnded === true ? undefined : open;
  }

  #spanOf(kind: TracedWork['do']): OpenSpan | undefined {
    const open = this.#outer();
    return open?.work.do === kind ? open.span : undefined;
  }

  #begin(work: TracedWork, outer: OpenSpan | undefined): OpenSpan | undefined {
    const { ids, clock, samplingRatePerMillion } = this.#deps;
    const asked = work.do === 'serve' ? parseTraceParent(work.traceparent) : undefined;
    if (asked?.sampled === false) return undefined;
    const parent = asked ?? outer;
    const traceId = parent?.traceId ?? ids.traceId();
    if (parent === undefined && !isSampled(traceId, samplingRatePerMillion)) return undefined;
    return {
      traceId,
      spanId: ids.spanId(),
      parentSpanId: parent?.spanId,
      anchor: (asked ? undefined : outer?.anchor) ?? momentOf(clock),
      startMs: clock.monotonicMs(),
      uid: work.do === 'look' ? work.uid : outer?.uid,
      described: describeWork(work),
      more: {},
      error: undefined,
    };
  }

  #end(open: Open, error: unknown): void {
    open.hasEnded = true;
    const { span } = open;
    if (span === undefined) return;
    // The record of a look says it better.
    if (error !== undefined) span.error ??= cut(errorText(error));
    this.#report(span, span.described, span.startMs, this.#deps.clock.monotonicMs());
  }

  /** Something that is over already, of whatever it was done for. */
  #over(described: Described, tookMs: number, error: string | undefined): void {
    const outer = this.#outer();
    if (!outer?.span) return;
    const { span } = outer;
    const endMs = this.#deps.clock.monotonicMs();
    const child: OpenSpan = { ...span, spanId: this.#deps.ids.spanId(), parentSpanId: span.spanId, described, more: {}, error };
    this.#report(child, described, Math.max(span.startMs, endMs - tookMs), endMs);
  }

  #report(
    { traceId, spanId, parentSpanId, anchor, uid, more, error }: OpenSpan,
    { name, kind, attributes }: Described,
    startMs: number,
    endMs: number,
  ): void {
    const dateOf = (ms: number): number => anchor.dateMs + ms - anchor.monotonicMs;
    const of: SpanAttributes = uid === undefined ? {} : { 'k8s.pod.uid': cut(uid) };
    this.#deps.onEnded({
      traceId,
      spanId,
      parentSpanId,
      name,
      kind,
      startMs: dateOf(startMs),
      endMs: dateOf(endMs),
      attributes: { ...of, ...attributes, ...more },
      error,
    });
  }
}
