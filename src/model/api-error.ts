/** What the API server answered when it refused: HTTP status and, of its Status object, reason and message (apimachinery metav1.Status). */
export class ApiError extends Error {
  readonly status: number;
  /** NotFound, Conflict, Forbidden, AlreadyExists, Expired, …; empty where the answer was no Status object. */
  readonly reason: string;
  /** From Retry-After or details.retryAfterSeconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: number,
    reason: string,
    message: string,
    options: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** No answer came: no connection, a broken one, a missed deadline. `message` names the server and the request. */
export class ApiUnreachableError extends Error {
  override readonly name = 'ApiUnreachableError';
}

const hasStatus =
  (status: number) =>
  (error: unknown): boolean =>
    error instanceof ApiError && error.status === status;

export const isNotFound = hasStatus(404);
export const isGone = hasStatus(410);
export const isForbidden = hasStatus(403);

/** The object has changed since it was read. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409 && error.reason !== 'AlreadyExists';
}
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409 && error.reason === 'AlreadyExists';
}
