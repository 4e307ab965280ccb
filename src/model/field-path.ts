import { quote, toLower } from './go-text.ts';
import type { RawPod } from './pod.ts';
import { isQualifiedName } from './validation/formats.ts';

/** Carries the message of k8s.io/kubernetes/pkg/fieldpath. */
export class FieldPathError extends Error {
  override readonly name = 'FieldPathError';
}

/** "metadata.labels['key']" in its two parts; undefined when the path has no subscript (SplitMaybeSubscriptedPath). */
export function splitSubscript(fieldPath: string): { readonly path: string; readonly subscript: string } | undefined {
  if (!fieldPath.endsWith("']")) return undefined;
  const inner = fieldPath.slice(0, -2);
  const open = inner.indexOf("['");
  return open <= 0 ? undefined : { path: inner.slice(0, open), subscript: inner.slice(open + 2) };
}

/** A map as a downward API file shows it: sorted lines of key="value". */
export function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  const keys = Object.keys(map ?? {}).sort();
  return keys.map((key) => `${key}=${quote(map?.[key] ?? '')}`).join('\n');
}

function subscripted(map: Readonly<Record<string, string>> | undefined, key: string, wrong: readonly string[], fieldPath: string): string {
  if (wrong.length > 0) throw new FieldPathError(`invalid key subscript in ${fieldPath}: ${wrong.join(';')}`);
  return Object.hasOwn(map ?? {}, key) ? (map?.[key] ?? '') : '';
}

/**
 * A metadata field of a pod as text; empty when it is not set (ExtractFieldPathAsString). Fields of spec and status are the caller's.
 * Throws FieldPathError.
 */
export function extractFieldPath({ metadata }: Pick<RawPod, 'metadata'>, fieldPath: string): string {
  const split = splitSubscript(fieldPath);
  if (split !== undefined) {
    const { path, subscript } = split;
    switch (path) {
      case 'metadata.annotations':
        return subscripted(metadata?.annotations, subscript, isQualifiedName(toLower(subscript)), fieldPath);
      case 'metadata.labels':
        return subscripted(metadata?.labels, subscript, isQualifiedName(subscript), fieldPath);
      default:
        throw new FieldPathError(`fieldPath ${quote(fieldPath)} does not support subscript`);
    }
  }
  switch (fieldPath) {
    case 'metadata.annotations':
      return formatMap(metadata?.annotations);
    case 'metadata.labels':
      return formatMap(metadata?.labels);
    case 'metadata.name':
      return metadata?.name ?? '';
    case 'metadata.namespace':
      return metadata?.namespace ?? '';
    case 'metadata.uid':
      return metadata?.uid ?? '';
    default:
      throw new FieldPathError(`unsupported fieldPath: ${fieldPath}`);
  }
}
