import { logSinceMs } from '../../model/log-since.ts';
import type { LogOptions } from '../../ports/container-access.ts';
import { HttpError } from '../../ports/route.ts';

export interface LogRequest {
  /** The container's life before this one. */
  readonly previous: boolean;
  readonly options: LogOptions;
}

const INT64 = 2n ** 63n;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;

/**
 * v1.PodLogOptions from a query, as the API machinery decodes and core validation judges it (pkg/kubelet/server getContainerLogs,
 * ValidatePodLogOptions). `tail`, with "all" for everything, is an old name of tailLines. Throws 400 for what cannot be read and 422
 * for what makes no sense, such as a stream where none may be chosen.
 */
export function logOptions(query: URLSearchParams, nowMs: number, mayChooseStream: boolean): LogRequest {
  const tail = query.get('tail') ?? '';
  const tailLines = tail === 'all' ? undefined : tail === '' ? integer(query.get('tailLines')) : integer(tail);
  const limitBytes = integer(query.get('limitBytes'));
  const sinceSeconds = integer(query.get('sinceSeconds'));
  const sinceTime = query.get('sinceTime');
  const sinceTimeMs = sinceTime === null ? undefined : time(sinceTime);
  const stream = query.get('stream') ?? 'All';
  const wrong =
    (tailLines !== undefined && tailLines < 0) ||
    (limitBytes !== undefined && limitBytes < 1) ||
    (sinceSeconds !== undefined && (sinceSeconds < 1 || sinceTime !== null)) ||
    (!mayChooseStream && query.has('stream')) ||
    (stream !== 'All' && stream !== 'Stdout' && stream !== 'Stderr') ||
    (stream !== 'All' && tailLines !== undefined);
  if (wrong) throw new HttpError(422, '{"message": "Invalid request."}');
  const sinceMs = logSinceMs({ sinceSeconds, sinceTimeMs }, nowMs);
  return {
    previous: truth(query.get('previous')),
    options: {
      follow: truth(query.get('follow')),
      timestamps: truth(query.get('timestamps')),
      ...(tailLines === undefined ? {} : { tailLines }),
      ...(sinceMs === undefined ? {} : { sinceMs }),
      ...(limitBytes === undefined ? {} : { limitBytes }),
      ...(stream === 'Stdout' || stream === 'Stderr' ? { stream } : {}),
    },
  };
}

/** Anything but "0" and "false" is true, an empty value, too (runtime.Convert_Slice_string_To_bool). */
const truth = (text: string | null): boolean => text !== null && text !== '0' && text.toLowerCase() !== 'false';

function integer(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (!/^[+-]?\d{1,30}$/.test(text)) throw undecodable();
  const value = BigInt(text.replace(/^\+/, ''));
  if (value < -INT64 || value >= INT64) throw undecodable();
  return Number(value);
}

/** Nothing and "null" are the zero time (metav1.Time UnmarshalQueryParameter): everything is since then. */
function time(text: string): number | undefined {
  if (text === '' || text === 'null') return undefined;
  const atMs = RFC_3339.test(text) ? Date.parse(text.replace(',', '.')) : Number.NaN;
  if (Number.isNaN(atMs)) throw undecodable();
  return atMs;
}

const undecodable = (): HttpError => new HttpError(400, '{"message": "Unable to decode query."}');
