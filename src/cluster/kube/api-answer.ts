import { ApiError } from '../../model/api-error.ts';
import type { OpenAnswer } from './api-transport.ts';

/** As much of an answer as a message repeats. */
const MAX_QUOTE = 300;

type AnswerHead = Pick<OpenAnswer, 'status' | 'headers'>;

/** The error that an answer stands for. `what` names the request, for answers that do not explain themselves. */
export function apiErrorOf({ status, headers }: AnswerHead, text: string, what: string): ApiError {
  const said = statusObject(parsed(text));
  const retryAfterMs = retryAfterOf(headers) ?? said?.retryAfterMs;
  const quoted = text.trim().slice(0, MAX_QUOTE);
  const message = said?.message || `${what}: HTTP ${status}${quoted === '' ? '' : `: ${quoted}`}`;
  return new ApiError(status, said?.reason ?? '', message, { retryAfterMs });
}

/** A Status object that came as a watch's ERROR event. */
export function apiErrorOfStatus(object: unknown, what: string): ApiError {
  const said = statusObject(object);
  return new ApiError(said?.code ?? 500, said?.reason ?? '', said?.message || `${what}: the watch failed`, {
    retryAfterMs: said?.retryAfterMs,
  });
}

/** What the Retry-After header asks for. API servers send seconds. */
export function retryAfterOf(headers: OpenAnswer['headers']): number | undefined {
  const value = headers['retry-after'];
  return typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : undefined;
}

/** The JSON of a successful answer. Throws ApiError when there is none. */
export function jsonOf(answer: AnswerHead, text: string, what: string): unknown {
  if (text === '') return undefined;
  const value = parsed(text);
  if (value === undefined) {
    throw new ApiError(answer.status, '', `${what}: the answer is not JSON: ${text.trim().slice(0, MAX_QUOTE)}`);
  }
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** metav1.Status, as far as anything here reads it. */
interface StatusFields {
  readonly code: number | undefined;
  readonly reason: string;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
}

function statusObject(value: unknown): StatusFields | undefined {
  if (typeof value !== 'object' || value === null || Reflect.get(value, 'kind') !== 'Status') return undefined;
  const code: unknown = Reflect.get(value, 'code');
  const text = (name: string): string => {
    const field: unknown = Reflect.get(value, name);
    return typeof field === 'string' ? field : '';
  };
  const details: unknown = Reflect.get(value, 'details');
  const seconds: unknown = typeof details === 'object' && details !== null ? Reflect.get(details, 'retryAfterSeconds') : undefined;
  return {
    reason: text('reason'),
    message: text('message'),
    code: typeof code === 'number' ? code : undefined,
    retryAfterMs: typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : undefined,
  };
}
