import { connect, type IncomingHttpHeaders } from 'node:http2';
import { abortable } from '../base/abortable.ts';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { formatGoDuration } from '../model/go-duration.ts';
import { quote } from '../model/go-text.ts';
import { dialErrorText } from './dial-error.ts';
import { joinHostPort } from './go-url.ts';
import { healthCheckRequest, healthCheckStatus } from './grpc-health.ts';
import { grpcTimeout } from './grpc-timeout.ts';
import { MAX_OUTPUT_BYTES, type ProbeOutcome } from './probe-outcome.ts';

export interface GrpcProbeOptions {
  readonly clock: Pick<Clock, 'schedule'>;
  readonly timeoutMs: number;
  /** "kube-probe/1.36" */
  readonly userAgent: string;
}

/** gRPC's status codes, by number (google.golang.org/grpc/codes). */
const codes = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const;

/** The standard health check, in the clear: SERVING is success, all else failure (pkg/probe/grpc). Rejects with the signal's reason only. */
export function grpcProbe(
  host: string,
  port: number,
  service: string,
  { clock, timeoutMs, userAgent }: GrpcProbeOptions,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  return abortable(signal, (resolve) => {
    const address = joinHostPort(host, port);
    const within = formatGoDuration(BigInt(timeoutMs) * 1_000_000n);
    let connected = false;
    const session = connect(`http://${address}`);
    const fail = (output: string): void => resolve({ result: 'failure', output });
    const broken = (reported: Error): void => {
      // A call that its connection took with it.
      const error = reported.cause ?? reported;
      if (connected) fail(`error: health rpc probe failed: rpc error: code = Unavailable desc = ${errorText(error)}`);
      else fail(`error: failed to connect service at ${quote(address)}: ${dialErrorText(error, host, port) ?? errorText(error)}`);
    };
    const deadline = clock.schedule(() => {
      if (connected) fail(`timeout: health rpc did not complete within ${within}`);
      else fail(`timeout: failed to connect service ${quote(address)} within ${within}: context deadline exceeded`);
    }, timeoutMs);
    session.on('error', broken);
    // The server's settings show that it speaks HTTP/2.
    session.once('remoteSettings', () => (connected = true));

    const call = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': userAgent,
      'grpc-timeout': grpcTimeout(timeoutMs),
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    let httpStatus = 0;
    let status: { readonly code: number; readonly message: string } | undefined;
    const note = (headers: IncomingHttpHeaders): void => {
      if (headers['grpc-status'] === undefined) return;
      status = { code: Number(headers['grpc-status']), message: decoded([headers['grpc-message'] ?? ''].flat().join()) };
    };
    call.on('response', (headers) => {
      httpStatus = headers[':status'] ?? 0;
      note(headers);
    });
    call.on('trailers', note);
    call.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES)
        fail('error: health rpc probe failed: rpc error: code = ResourceExhausted desc = the answer is too large');
      else chunks.push(chunk);
    });
    call.on('error', broken);
    call.once('end', () => resolve(outcomeOf(status ?? statusOfHttp(httpStatus), Buffer.concat(chunks), within)));
    call.end(healthCheckRequest(service));
    return () => {
      deadline.unsubscribe();
      session.destroy();
    };
  });
}

interface GrpcStatus {
  readonly code: number;
  readonly message: string;
}

/** An answer without a status of gRPC's own is not from a gRPC server. */
function statusOfHttp(httpStatus: number): GrpcStatus {
  const known: Readonly<Record<number, number>> = { 400: 13, 401: 16, 403: 7, 404: 12, 429: 14, 502: 14, 503: 14, 504: 14 };
  return { code: known[httpStatus] ?? 2, message: `unexpected HTTP status code received from server: ${httpStatus}` };
}

function outcomeOf({ code, message }: GrpcStatus, body: Buffer, within: string): ProbeOutcome {
  const name = codes[code] ?? `Code(${code})`;
  if (name === 'Unimplemented') {
    const output = `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`;
    return { result: 'failure', output };
  }
  if (name === 'DeadlineExceeded') return { result: 'failure', output: `timeout: health rpc did not complete within ${within}` };
  const serving = healthCheckStatus(body);
  if (name !== 'OK' || serving === undefined) {
    const error = name === 'OK' ? 'code = Internal desc = the answer is no HealthCheckResponse' : `code = ${name} desc = ${message}`;
    return { result: 'failure', output: `error: health rpc probe failed: rpc error: ${error}` };
  }
  if (serving === 'SERVING') return { result: 'success', output: 'service healthy' };
  return { result: 'failure', output: `service unhealthy (responded with ${quote(serving)})` };
}

/** gRPC escapes its messages like a URL. */
function decoded(message: string): string {
  const bytes = message.replace(/%([0-9a-fA-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
