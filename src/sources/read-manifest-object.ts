import { hash } from 'node:crypto';
import type { ManifestFault, ManifestWarning } from '../model/manifest-fault.ts';
import type { ManifestObject } from '../model/manifest-object.ts';
import type { ReferencedKind } from '../model/pod-references.ts';
import type { ObjectMeta } from '../model/pod.ts';
import { FieldErrors } from '../model/validation/field-error.ts';
import { isConfigMapKey } from '../model/validation/formats.ts';
import { validatePodMeta } from '../model/validation/object-meta.ts';
import { decodeObject } from './decode-object.ts';
import type { MapNode } from './document.ts';
import { offsetOfField, type Position } from './locate.ts';
import type { PodSchema } from './pod-schema.ts';

/** One ConfigMap or Secret of a manifest, or why it cannot be had. */
export interface ManifestObjectResult {
  /** "Secret default/login", as far as it can be read. */
  readonly key: string;
  /** Undefined when there are faults. */
  readonly object: ManifestObject | undefined;
  /** Never a word of what a Secret holds. */
  readonly faults: readonly ManifestFault[];
  readonly warnings: readonly ManifestWarning[];
}

/** pkg/apis/core MaxSecretSize, and the same for a ConfigMap. */
const MAX_BYTES = 1024 * 1024;

interface Decoded {
  readonly metadata?: ObjectMeta;
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
  readonly type?: string;
}

/** Decodes and validates as the API server does (ValidateConfigMap, ValidateSecret); what is written as stringData becomes data. */
export function readManifestObject(
  kind: ReferencedKind,
  root: MapNode,
  schema: PodSchema,
  locate: (offset: number) => Position,
): ManifestObjectResult {
  const { value, faults: misread, warnings } = decodeObject(schema, kind, root);
  const written = value as Decoded;
  const metadata = { ...written.metadata, namespace: written.metadata?.namespace || 'default' };
  const errors = new FieldErrors();
  validatePodMeta(metadata, 'metadata', errors);
  if (!metadata.name && metadata.generateName) errors.required('metadata.name', 'a manifest has to name its object');
  const data = dataOf(kind, written, errors);
  const key = `${kind} ${metadata.namespace}/${metadata.name ?? ''}`;
  const faults = [
    ...misread.map(({ type, at, field, detail }): ManifestFault => ({
      type,
      field,
      detail: kind === 'Secret' ? kindOnly(detail) : detail,
      ...locate(at),
    })),
    ...(misread.length > 0 ? [] : errors.all).map((error): ManifestFault => ({ ...error, ...locate(offsetOfField(root, error.field)) })),
  ];
  const object: ManifestObject = {
    kind,
    metadata: {
      name: metadata.name ?? '',
      namespace: metadata.namespace,
      uid: metadata.uid ?? hash('md5', key),
      resourceVersion: hash('sha256', JSON.stringify([data, written.binaryData, written.type])),
    },
    // As the API server defaults it.
    ...(kind === 'Secret' && { type: written.type || 'Opaque' }),
    data,
    ...(written.binaryData && { binaryData: written.binaryData }),
    ...(written.immutable !== undefined && { immutable: written.immutable }),
  };
  return {
    key,
    object: faults.length === 0 ? object : undefined,
    faults,
    warnings: warnings.map(({ at, field, detail }) => ({ field, detail, ...locate(at) })),
  };
}

function dataOf(
  kind: ReferencedKind,
  { data = {}, stringData = {}, binaryData = {} }: Decoded,
  errors: FieldErrors,
): Readonly<Record<string, string>> {
  const bytes = Object.entries(kind === 'Secret' ? data : binaryData);
  const text = Object.entries(kind === 'Secret' ? stringData : data);
  const [bytesField, textField] = kind === 'Secret' ? ['data', 'stringData'] : ['binaryData', 'data'];
  for (const [key, value] of bytes) {
    checkKey(`${bytesField}[${key}]`, key, errors);
    if (!isBase64(value)) errors.invalid(`${bytesField}[${key}]`, undefined, `must be base64; plain text goes into ${textField}`);
    if (kind === 'ConfigMap' && key in data) errors.duplicate(`binaryData[${key}]`, key);
  }
  for (const [key] of text) checkKey(`${textField}[${key}]`, key, errors);
  const encoded = text.map(([key, value]) => [key, kind === 'Secret' ? Buffer.from(value).toString('base64') : value] as const);
  const total = [...bytes.map(([, value]) => Buffer.from(value, 'base64').length), ...text.map(([, value]) => Buffer.byteLength(value))];
  if (total.reduce((sum, size) => sum + size, 0) > MAX_BYTES) errors.tooLong(kind === 'Secret' ? 'data' : '', MAX_BYTES);
  return Object.fromEntries(kind === 'Secret' ? [...bytes, ...encoded] : encoded);
}

function checkKey(field: string, key: string, errors: FieldErrors): void {
  errors.invalidEach(field, key, isConfigMapKey(key));
}

/** As Go's StdEncoding has it: padded, line ends apart. */
function isBase64(text: string): boolean {
  const joined = text.replaceAll(/[\r\n]/g, '');
  return joined.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(joined);
}

/** What was found, without its value. */
function kindOnly(detail: string): string {
  const hint = detail.endsWith(' (put it in quotes)') ? ' (put it in quotes)' : '';
  return detail.replace(
    /, found (null|boolean|number|string|a list|a map)\b[^]*$/,
    (_, found: string) => `, found ${/^(a |null)/.test(found) ? '' : 'a '}${found}${hint}`,
  );
}
