import { quote } from '../go-text.ts';

/** The names of k8s.io/apimachinery field.ErrorType. */
export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany';

/** One thing wrong with an object: `field` is a path such as `spec.containers[0].name`. */
export interface FieldError {
  readonly type: FieldErrorType;
  readonly field: string;
  readonly detail: string;
  /** The value that is wrong; absent where Kubernetes does not show it (required, forbidden, too long). */
  readonly badValue?: unknown;
}

const titles: Readonly<Record<FieldErrorType, string>> = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
};

/** The line Kubernetes prints: `spec.hostname: Invalid value: "H": a lowercase …` (field.Error). */
export function formatFieldError({ type, field, detail, badValue }: FieldError): string {
  const shown = typeof badValue === 'string' ? quote(badValue) : JSON.stringify(badValue);
  const value = badValue === undefined ? '' : `: ${shown}`;
  return `${field}: ${titles[type]}${value}${detail === '' ? '' : `: ${detail}`}`;
}

/** Collects the errors of one validation, in the order they are found. */
export class FieldErrors {
  readonly #found: FieldError[] = [];

  get all(): readonly FieldError[] {
    return this.#found;
  }

  get count(): number {
    return this.#found.length;
  }

  required(field: string, detail = ''): void {
    this.#found.push({ type: 'FieldValueRequired', field, detail });
  }

  forbidden(field: string, detail: string): void {
    this.#found.push({ type: 'FieldValueForbidden', field, detail });
  }

  duplicate(field: string, badValue: unknown): void {
    this.#found.push({ type: 'FieldValueDuplicate', field, detail: '', badValue });
  }

  notFound(field: string, badValue: unknown, detail = ''): void {
    this.#found.push({ type: 'FieldValueNotFound', field, detail, badValue });
  }

  invalid(field: string, badValue: unknown, detail: string): void {
    this.#found.push({ type: 'FieldValueInvalid', field, detail, badValue });
  }

  /** One error for each of a format check's messages. */
  invalidEach(field: string, badValue: unknown, details: readonly string[]): void {
    for (const detail of details) this.invalid(field, badValue, detail);
  }

  /** `supported` is listed in the order given. */
  notSupported(field: string, badValue: unknown, supported: readonly string[]): void {
    const detail = `supported values: ${supported.map(quote).join(', ')}`;
    this.#found.push({ type: 'FieldValueNotSupported', field, detail, badValue });
  }

  tooLong(field: string, maxBytes: number): void {
    this.#found.push({ type: 'FieldValueTooLong', field, detail: `may not be more than ${maxBytes} bytes` });
  }

  tooMany(field: string, maxItems: number, actual?: number): void {
    this.#found.push({ type: 'FieldValueTooMany', field, detail: `must have at most ${maxItems} items`, badValue: actual });
  }
}
