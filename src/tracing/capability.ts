import { GrpcChannel } from '../base/grpc/grpc-channel.ts';
import { version } from '../base/version.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { collectorAddress, DEFAULT_ENDPOINT } from './collector-address.ts';
import { otlpTraces, type TraceOrigin } from './otlp-traces.ts';
import { SpanExporter } from './span-exporter.ts';
import { spanIds } from './span-ids.ts';
import { Tracer } from './tracer.ts';

const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
/** What a collector answers with is next to nothing. */
const MOST_ANSWER_BYTES = 64 * 1024;

/** Spans of what the agent does, sent to a collector (OTLP over gRPC, in the clear, as the kubelet sends them). */
export function capability({ options, clock, random, log }: NodeParts): Contribution {
  const endpoint = options.tracingEndpoint || DEFAULT_ENDPOINT;
  const address = collectorAddress(endpoint);
  if (address === undefined) {
    throw new Error(
      `tracing.endpoint ${JSON.stringify(endpoint)} names no collector: expected HOST:PORT, dns:///HOST:PORT, unix:///PATH or unix-abstract:NAME`,
    );
  }
  const dial = (): GrpcChannel => new GrpcChannel({ target: address, clock, random, maxMessageBytes: MOST_ANSWER_BYTES });
  let channel = dial();
  const origin = traceOrigin(options.nodeName);
  const exporter = new SpanExporter({
    send: (spans, timeoutMs, signal) => channel.unary(EXPORT, otlpTraces(spans, origin), { timeoutMs }, signal),
    // What hangs would hang with the next sending, too.
    hangUp: () => {
      channel.close();
      channel = dial();
    },
    clock,
    random,
    log,
    endpoint,
  });
  const tracer = new Tracer({
    clock,
    ids: spanIds(random),
    samplingRatePerMillion: options.tracingSamplingRatePerMillion ?? 0,
    onEnded: (span) => exporter.add(span),
  });
  return {
    tracing: tracer,
    listener: tracer.listener,
    // Until all others have stopped.
    services: [{ name: 'tracing', stage: 'credentials', run: (signal) => exporter.run(signal) }],
  };
}

/** What a kubelet says of itself (cmd/kubelet/app newTracerProvider, pkg/kubelet instrumentationScope). */
function traceOrigin(nodeName: string): TraceOrigin {
  return {
    resource: { 'service.name': 'kubelet', 'service.version': version(), 'host.name': nodeName, 'k8s.node.name': nodeName },
    scope: { name: 'k8s.io/kubernetes/pkg/kubelet', version: version() },
  };
}
