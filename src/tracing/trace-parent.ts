/** Where a span belongs: as the header `traceparent` says it (W3C Trace Context, version 00). */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Undefined: this is no such header, which counts as none. Later versions may say more at its end. */
export function parseTraceParent(header: string | undefined): TraceParent | undefined {
  // Of a header that is too long nothing is read: it comes from elsewhere.
  if (header === undefined || header.length > 256) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(header.trim()) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const formatTraceParent = ({ traceId, spanId, sampled }: TraceParent): string => `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
