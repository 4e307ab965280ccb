import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import protobuf from 'protobufjs';
import { Subject } from 'rxjs';

/** A span as the collector has it: times are milliseconds, ids hexadecimal. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly error: string | undefined;
}

export interface Received {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: string;
  readonly spans: readonly ReceivedSpan[];
}

export interface OtlpReceiver {
  /** HOST:PORT */
  readonly endpoint: string;
  readonly received: readonly Received[];
  readonly requests: Subject<Received>;
  /** Of all requests. */
  spans(): readonly ReceivedSpan[];
  /** Resolves once `enough` says so of all spans. */
  until(enough: (spans: readonly ReceivedSpan[]) => boolean): Promise<void>;
  readonly connections: () => number;
}

/** What becomes of a request; the default takes it. */
export type Answering = (stream: ServerHttp2Stream, received: Received) => void;

/** A collector that takes OTLP over gRPC, as OpenTelemetry's definitions have it (opentelemetry-proto, v1), until the test ends. */
export async function otlpReceiver(
  test: TestContext,
  { answer = well, port = 0 }: { answer?: Answering; port?: number } = {},
): Promise<OtlpReceiver> {
  const received: Received[] = [];
  const requests = new Subject<Received>();
  const sessions = new Set<ServerHttp2Session>();
  let connections = 0;
  const server: Http2Server = createServer();
  server.on('session', (session) => {
    connections++;
    session.on('error', () => {});
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    if (headers[':path'] !== '/opentelemetry.proto.collector.trace.v1.TraceService/Export') {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' }, { endStream: true });
      return;
    }
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('end', () => {
      const request = decodeTraces(Buffer.concat(chunks));
      received.push(request);
      requests.next(request);
      answer(stream, request);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => {
    for (const session of sessions) session.destroy();
    return new Promise<void>((closed) => void server.close(() => closed()));
  });
  const spans = (): readonly ReceivedSpan[] => received.flatMap((request) => request.spans);
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    requests,
    spans,
    until: (enough) =>
      new Promise((resolve) => {
        if (enough(spans())) {
          resolve();
          return;
        }
        const heard = requests.subscribe(() => {
          if (!enough(spans())) return;
          heard.unsubscribe();
          resolve();
        });
      }),
    connections: () => connections,
  };
}

/** An empty ExportTraceServiceResponse, and OK. */
export const well: Answering = (stream) => finish(stream, { 'grpc-status': '0' });

export function finish(stream: ServerHttp2Stream, trailers: Readonly<Record<string, string>>): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(Buffer.alloc(5));
}

/** The parts of opentelemetry-proto that a span needs: names, numbers and types. */
const messages = protobuf.Root.fromJSON({
  nested: {
    ExportTraceServiceRequest: { fields: { resourceSpans: { rule: 'repeated', type: 'ResourceSpans', id: 1 } } },
    ResourceSpans: {
      fields: { resource: { type: 'Resource', id: 1 }, scopeSpans: { rule: 'repeated', type: 'ScopeSpans', id: 2 } },
    },
    Resource: { fields: { attributes: { rule: 'repeated', type: 'KeyValue', id: 1 } } },
    ScopeSpans: { fields: { scope: { type: 'Scope', id: 1 }, spans: { rule: 'repeated', type: 'Span', id: 2 } } },
    Scope: { fields: { name: { type: 'string', id: 1 }, version: { type: 'string', id: 2 } } },
    Span: {
      fields: {
        traceId: { type: 'bytes', id: 1 },
        spanId: { type: 'bytes', id: 2 },
        traceState: { type: 'string', id: 3 },
        parentSpanId: { type: 'bytes', id: 4 },
        flags: { type: 'fixed32', id: 16 },
        name: { type: 'string', id: 5 },
        kind: { type: 'SpanKind', id: 6 },
        startTimeUnixNano: { type: 'fixed64', id: 7 },
        endTimeUnixNano: { type: 'fixed64', id: 8 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 9 },
        status: { type: 'Status', id: 15 },
      },
    },
    SpanKind: { values: { UNSPECIFIED: 0, INTERNAL: 1, SERVER: 2, CLIENT: 3, PRODUCER: 4, CONSUMER: 5 } },
    Status: { fields: { message: { type: 'string', id: 2 }, code: { type: 'int32', id: 3 } } },
    KeyValue: { fields: { key: { type: 'string', id: 1 }, value: { type: 'AnyValue', id: 2 } } },
    AnyValue: {
      oneofs: { value: { oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue'] } },
      fields: {
        stringValue: { type: 'string', id: 1 },
        boolValue: { type: 'bool', id: 2 },
        intValue: { type: 'int64', id: 3 },
        doubleValue: { type: 'double', id: 4 },
        arrayValue: { type: 'ArrayValue', id: 5 },
      },
    },
    ArrayValue: { fields: { values: { rule: 'repeated', type: 'AnyValue', id: 1 } } },
  },
}).lookupType('ExportTraceServiceRequest');

interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] };
}

interface Decoded {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly scope: { readonly name: string }; readonly spans?: readonly DecodedSpan[] }[];
  }[];
}

interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

interface DecodedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

/** One gRPC message with its prefix. */
function decodeTraces(frame: Buffer): Received {
  if (frame[0] !== 0 || frame.readUInt32BE(1) !== frame.length - 5) throw new Error('not one gRPC message');
  return decodeMessage(frame.subarray(5));
}

export function decodeMessage(message: Buffer): Received {
  const decoded: unknown = messages.toObject(messages.decode(message), { bytes: String, longs: String, enums: String });
  const [only] = (decoded as Decoded).resourceSpans;
  const [scope] = only?.scopeSpans ?? [];
  if (only === undefined || scope === undefined) throw new Error('a request without spans');
  return {
    resource: attributesOf(only.resource.attributes ?? []),
    scope: scope.scope.name,
    spans: (scope.spans ?? []).map(
      ({ traceId, spanId, parentSpanId = '', name, kind, startTimeUnixNano, endTimeUnixNano, attributes, status }) => ({
        traceId: hex(traceId),
        spanId: hex(spanId),
        parentSpanId: hex(parentSpanId),
        name,
        kind,
        startMs: Number(BigInt(startTimeUnixNano) / 1_000_000n),
        endMs: Number(BigInt(endTimeUnixNano) / 1_000_000n),
        attributes: attributesOf(attributes ?? []),
        error: status?.code === 2 ? (status.message ?? '') : undefined,
      }),
    ),
  };
}

const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');

const attributesOf = (pairs: readonly KeyValue[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, valueOf(value)]));

function valueOf({ stringValue, boolValue, intValue, doubleValue, arrayValue }: AnyValue): unknown {
  if (arrayValue !== undefined) return (arrayValue.values ?? []).map(valueOf);
  return stringValue ?? boolValue ?? (intValue === undefined ? doubleValue : Number(intValue));
}
