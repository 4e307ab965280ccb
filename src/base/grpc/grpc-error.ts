import type { GrpcCode, GrpcStatus } from './grpc-status.ts';

/**
 * A call that did not succeed: the server said so, or Unavailable, where no connection came about or it broke, or DeadlineExceeded. Of the last
 * two, and of Canceled, nobody knows whether the call had its effect.
 */
export class GrpcError extends Error {
  /** "RunPodSandbox" */
  readonly method: string;
  readonly code: GrpcCode;
  /** The server's own words, without the call. */
  readonly details: string;
  /** Whether the peer had shown by then that it speaks HTTP/2. */
  readonly connected: boolean;

  constructor(
    method: string,
    { code, details }: GrpcStatus,
    { connected, cause }: { readonly connected: boolean; readonly cause?: unknown } = { connected: true },
  ) {
    super(`${method}: rpc error: code = ${code} desc = ${details}`, { cause });
    this.name = 'GrpcError';
    this.method = method;
    this.code = code;
    this.details = details;
    this.connected = connected;
  }
}

/** Whether the call failed with one of these. */
export const isGrpcError = (error: unknown, ...these: readonly GrpcCode[]): error is GrpcError =>
  error instanceof GrpcError && these.includes(error.code);
