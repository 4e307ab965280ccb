import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { GrpcChannel } from '../base/grpc/grpc-channel.ts';
import { GrpcError } from '../base/grpc/grpc-error.ts';
import { formatGoDuration } from '../model/go-duration.ts';
import { quote } from '../model/go-text.ts';
import { dialErrorText } from './dial-error.ts';
import { joinHostPort } from './go-url.ts';
import { healthCheckRequest, healthCheckStatus } from './grpc-health.ts';
import { MAX_OUTPUT_BYTES, type ProbeOutcome } from './probe-outcome.ts';

export interface GrpcProbeOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>;
  readonly timeoutMs: number;
  /** "kube-probe/1.36" */
  readonly userAgent: string;
}

/** The standard health check, in the clear: SERVING is success, all else failure (pkg/probe/grpc). Rejects with the signal's reason only. */
export async function grpcProbe(
  host: string,
  port: number,
  service: string,
  { clock, timeoutMs, userAgent }: GrpcProbeOptions,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const channel = new GrpcChannel({ target: { host, port }, clock, userAgent, maxMessageBytes: MAX_OUTPUT_BYTES });
  try {
    return outcomeOf(await channel.unary('/grpc.health.v1.Health/Check', healthCheckRequest(service), { timeoutMs }, signal));
  } catch (error) {
    signal.throwIfAborted();
    return { result: 'failure', output: failureText(error, { host, port, timeoutMs }) };
  } finally {
    channel.close();
  }
}

function outcomeOf(answer: Buffer): ProbeOutcome {
  const serving = healthCheckStatus(answer);
  if (serving === 'SERVING') return { result: 'success', output: 'service healthy' };
  if (serving !== undefined) return { result: 'failure', output: `service unhealthy (responded with ${quote(serving)})` };
  const error = 'code = Internal desc = the answer is no HealthCheckResponse';
  return { result: 'failure', output: `error: health rpc probe failed: rpc error: ${error}` };
}

interface Asked {
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

function failureText(error: unknown, { host, port, timeoutMs }: Asked): string {
  const address = quote(joinHostPort(host, port));
  const within = formatGoDuration(BigInt(timeoutMs) * 1_000_000n);
  if (!(error instanceof GrpcError)) return `error: health rpc probe failed: ${errorText(error)}`;
  const { code, details, connected, cause } = error;
  if (code === 'DeadlineExceeded' && connected) return `timeout: health rpc did not complete within ${within}`;
  if (code === 'DeadlineExceeded') return `timeout: failed to connect service ${address} within ${within}: context deadline exceeded`;
  if (!connected) return `error: failed to connect service at ${address}: ${dialErrorText(socketFault(cause), host, port) ?? details}`;
  if (code === 'Unimplemented') return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${details}`;
  return `error: health rpc probe failed: rpc error: code = ${code} desc = ${details}`;
}

/** A call that its connection took with it says what happened to that. */
const socketFault = (error: unknown): unknown => (error instanceof Error ? (error.cause ?? error) : error);
