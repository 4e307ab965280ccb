import { type FieldErrorType, formatFieldError } from './validation/field-error.ts';

/** Why a text is no pod: not YAML or JSON, no or an unknown or another kind, or a value that its field cannot hold. `unreadable`: there is no text. */
export type DecodeFaultType =
  | 'unreadable'
  | 'yaml'
  | 'json'
  | 'missingKind'
  | 'missingVersion'
  | 'notRegistered'
  | 'notAPod'
  | 'quantity'
  | 'time'
  | 'type';

/** Tells the author of a manifest what is wrong and where. Lines and columns count from 1. */
export type ManifestFault = ManifestPlace & { readonly detail: string } & (
    | { readonly type: DecodeFaultType }
    | { readonly type: FieldErrorType; readonly badValue?: unknown }
  );

/** What does no harm but is hardly meant: unknown fields, repeated keys, further documents. */
export interface ManifestWarning extends ManifestPlace {
  readonly detail: string;
}

interface ManifestPlace {
  readonly line: number;
  readonly column: number;
  /** Such as `spec.containers[0].name`; empty for the document itself. */
  readonly field: string;
}

/** `file:line:column field: what is wrong`, on one line. */
export function formatManifestFault(file: string, fault: ManifestFault | ManifestWarning): string {
  return `${file}:${fault.line}:${fault.column} ${faultWords(fault)}`.replaceAll(/[\r\n]+\s*/g, ' ');
}

/** "spec.containers[0].name: Required value" */
export function faultWords(fault: ManifestFault | ManifestWarning): string {
  if ('type' in fault && fault.type.startsWith('FieldValue')) return formatFieldError({ ...fault, type: fault.type as FieldErrorType });
  return fault.field === '' ? fault.detail : `${fault.field}: ${fault.detail}`;
}
