/** The engine answered, with a status that means failure (or 304: it was so already). No cause: dockerode's error says the same once more. */
export class EngineResponseError extends Error {
  readonly statusCode: number;
  /** The daemon's own words, without the call: what status and events show after "Error response from daemon: ". */
  readonly daemonMessage: string;

  constructor(what: string, statusCode: number, daemonMessage: string) {
    super(`docker: ${what} answered ${statusCode}: ${daemonMessage}`);
    this.name = 'EngineResponseError';
    this.statusCode = statusCode;
    this.daemonMessage = daemonMessage;
  }
}

/** No daemon behind the endpoint, or the connection broke before the answer was complete: the call may or may not have had its effect. */
export class EngineUnavailableError extends Error {
  constructor(what: string, endpoint: string, cause: unknown) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    super(`docker: ${what} failed: cannot reach the Docker daemon at ${endpoint}: ${detail}`, { cause });
    this.name = 'EngineUnavailableError';
  }
}

/** The engine did not answer in time. The call may still have its effect. */
export class EngineDeadlineError extends Error {
  constructor(what: string, deadlineMs: number) {
    super(`docker: ${what} did not answer within ${deadlineMs / 1000} s`);
    this.name = 'EngineDeadlineError';
  }
}

const hasStatus = (error: unknown, statusCode: number): boolean => error instanceof EngineResponseError && error.statusCode === statusCode;

/** The container, image or path is not there. From create it means: the image is not there. */
export const isNotFound = (error: unknown): boolean => hasStatus(error, 404);
/** The name is taken, or the thing is in a state that forbids the call. */
export const isConflict = (error: unknown): boolean => hasStatus(error, 409);
/** Started or stopped already: success under another name. */
export const isNotModified = (error: unknown): boolean => hasStatus(error, 304);

/** As docker's own client words a refusal: these words end up in pod statuses and events. */
export function daemonWords(error: unknown): string {
  if (error instanceof EngineResponseError) return `Error response from daemon: ${error.daemonMessage}`;
  return error instanceof Error ? error.message : String(error);
}

/** What dockerode threw, as one of the types above. The one place that knows the shape of its errors. */
export function classifyEngineError(what: string, endpoint: string, error: unknown): Error {
  if (!(error instanceof Error)) return new Error(`docker: ${what} failed: ${String(error)}`, { cause: error });
  if ('statusCode' in error && typeof error.statusCode === 'number') {
    return new EngineResponseError(what, error.statusCode, daemonMessage(error));
  }
  // Socket errors carry a code (ENOENT, ECONNREFUSED, ECONNRESET, EPIPE, …); so does node's parser when the answer is not HTTP.
  if ('code' in error && typeof error.code === 'string') return new EngineUnavailableError(what, endpoint, error);
  return new Error(`docker: ${what} failed: ${error.message}`, { cause: error });
}

function daemonMessage(error: Error): string {
  const body: unknown = 'json' in error ? error.json : undefined;
  if (Buffer.isBuffer(body)) return body.toString().trim();
  if (typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string') return body.message.trim();
  // A streaming call's body is only quoted, after dockerode's own words.
  return error.message.replace(/^\(HTTP code \d+\) .*? - /, '').trim();
}
