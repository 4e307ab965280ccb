/** A value that was found where another was expected, in a few words; one that may be secret by its type alone. */
export function describeValue(value: unknown, sensitive = false): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a timestamp';
  if (value instanceof Uint8Array) return 'bytes';
  // YAML has types of its own for these.
  if (value instanceof Map) return 'an ordered map';
  if (value instanceof Set) return 'a set';
  if (typeof value === 'object') return 'a map';
  if (sensitive) return `a ${typeof value}`;
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  return `${typeof value} ${typeof value === 'number' || typeof value === 'boolean' ? value : ''}`.trim();
}
