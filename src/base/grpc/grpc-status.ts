import type { IncomingHttpHeaders } from 'node:http2';

/** gRPC's status codes, by number (google.golang.org/grpc/codes). */
export const grpcCodes = [
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

/** What a call came to. A number that gRPC does not have is "Code(99)". */
export type GrpcCode = (typeof grpcCodes)[number] | `Code(${number})`;

export interface GrpcStatus {
  readonly code: GrpcCode;
  /** The server's own words. */
  readonly details: string;
}

/** The status in the headers or trailers of an answer; undefined: there is none. */
export function grpcStatusIn(headers: IncomingHttpHeaders): GrpcStatus | undefined {
  const { 'grpc-status': status, 'grpc-message': message } = headers;
  if (status === undefined) return undefined;
  const number = Number(status);
  return { code: grpcCodes[number] ?? `Code(${number})`, details: unescaped([message ?? ''].flat().join()) };
}

/** An answer without a status of gRPC's own is not from a gRPC server (google.golang.org/grpc/internal/transport/http_util.go). */
export function grpcStatusOfHttp(httpStatus: number, contentType: string | undefined): GrpcStatus {
  const known: Readonly<Record<number, GrpcCode>> = {
    400: 'Internal',
    401: 'Unauthenticated',
    403: 'PermissionDenied',
    404: 'Unimplemented',
    429: 'Unavailable',
    502: 'Unavailable',
    503: 'Unavailable',
    504: 'Unavailable',
  };
  const details = `unexpected HTTP status code received from server: ${httpStatus}`;
  if (httpStatus !== 200) return { code: known[httpStatus] ?? 'Unknown', details };
  if (isGrpcContent(contentType)) return { code: 'Internal', details: 'the server ended the call without a status' };
  return { code: 'Unknown', details: `the server does not speak gRPC: it answered with content-type ${JSON.stringify(contentType ?? '')}` };
}

/** "application/grpc", "application/grpc+proto", and the like with parameters. */
export function isGrpcContent(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/grpc(?:[+;]|$)/i.test(contentType);
}

/** What grpc-status and grpc-message are for this. */
export function grpcTrailers({ code, details }: GrpcStatus): { readonly 'grpc-status': string; readonly 'grpc-message'?: string } {
  const number = grpcCodes.findIndex((each) => each === code);
  const status = String(number < 0 ? (/\d+/.exec(code)?.[0] ?? '2') : number);
  return details === '' ? { 'grpc-status': status } : { 'grpc-status': status, 'grpc-message': escaped(details.slice(0, MOST_DETAILS)) };
}

/** Trailers have to be small for a client to take them. */
const MOST_DETAILS = 2000;

function escaped(message: string): string {
  return Buffer.from(message)
    .toString('latin1')
    .replaceAll(/[^ -$&-~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

/** gRPC escapes its messages like a URL. */
function unescaped(message: string): string {
  const bytes = Buffer.from(message).toString('latin1');
  return Buffer.from(
    bytes.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();
}
