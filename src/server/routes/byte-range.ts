/** From `start` up to, but not including, `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A Range header's one range (RFC 9110, 14.1.2). Undefined: send everything, as without one, and for several, which no client here asks for. */
export function byteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  return start < end ? { start, end } : 'unsatisfiable';
}
