export type SpanKind = 'internal' | 'server' | 'client';

/** Texts are cut where they are long: see MOST_TEXT. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A piece of work that has ended. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Undefined: the first of its trace. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Dates. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** Undefined: it worked. */
  readonly error: string | undefined;
}

/** Characters of an attribute's text, or of an error: what says more is for the log. */
export const MOST_TEXT = 1024;
