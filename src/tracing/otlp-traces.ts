import { ProtobufWriter } from './protobuf.ts';
import type { Span, SpanAttributes, SpanKind } from './span.ts';

export interface TraceOrigin {
  readonly resource: SpanAttributes;
  readonly scope: { readonly name: string; readonly version: string };
}

/** An ExportTraceServiceRequest (opentelemetry/proto/collector/trace/v1/trace_service.proto, trace/v1/trace.proto, common/v1/common.proto). */
export function otlpTraces(spans: readonly Span[], { resource, scope }: TraceOrigin): Buffer {
  const scopeSpans = message().message(1, message().text(1, scope.name).text(2, scope.version));
  for (const span of spans) scopeSpans.message(2, otlpSpan(span));
  const resourceSpans = message()
    .message(1, withAttributes(message(), 1, resource))
    .message(2, scopeSpans);
  return message().message(1, resourceSpans).finish();
}

/** Span.SpanKind */
const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
/** Status.StatusCode */
const ERROR = 2;
/** The flags of the trace (W3C): it is sampled. */
const SAMPLED = 1;

function otlpSpan({ traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, error }: Span): ProtobufWriter {
  const span = message()
    .bytes(1, Buffer.from(traceId, 'hex'))
    .bytes(2, Buffer.from(spanId, 'hex'))
    .bytes(4, parentSpanId === undefined ? undefined : Buffer.from(parentSpanId, 'hex'))
    .text(5, name)
    .int(6, kinds[kind])
    .fixed64(7, nanoseconds(startMs))
    .fixed64(8, nanoseconds(endMs));
  withAttributes(span, 9, attributes);
  if (error !== undefined) span.message(15, message().text(2, error).int(3, ERROR));
  return span.fixed32(16, SAMPLED);
}

function withAttributes(to: ProtobufWriter, field: number, attributes: SpanAttributes): ProtobufWriter {
  for (const [key, value] of Object.entries(attributes)) to.message(field, message().text(1, key).message(2, anyValue(value)));
  return to;
}

function anyValue(value: SpanAttributes[string]): ProtobufWriter {
  if (typeof value === 'string') return message().text(1, value);
  if (typeof value === 'boolean') return message().bool(2, value);
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? message().int(3, value) : message().double(4, value);
  const list = message();
  for (const each of value) list.message(1, message().text(1, each));
  return message().message(5, list);
}

const message = (): ProtobufWriter => new ProtobufWriter();

/** A date before 1970 is not one that a clock shows. */
const nanoseconds = (ms: number): bigint => BigInt(Math.max(0, Math.round(ms))) * 1_000_000n;
