import { fnv1a } from '../base/fnv-1a.ts';

/**
 * The checksum of a kubelet's checkpoint: of how Go's spew package prints it, with its own checksum being 0
 * (pkg/kubelet/checkpointmanager/checksum, k8s.io/utils/dump ForHash). Each field has its name, Go type, and what is printed of it.
 */
export function checkpointSum(type: string, fields: readonly (readonly [name: string, type: string, printed: string])[]): number {
  const printed = fields.map(([name, fieldType, value]) => `${name}:(${fieldType})${value} `).join('');
  return printedSum(`(*state.${type}){${printed}Checksum:(checksum.Checksum)0}`);
}

/** The checksum of what is printed so. */
export const printedSum = (text: string): number => fnv1a(Buffer.from(text).toString('latin1')) >>> 0;

/** A map within, as it is printed: by its keys in their order. */
export function ofMap<T>(entries: Readonly<Record<string, T>>, print: (value: T) => string = String): string {
  const keyed = Object.entries(entries).map(([key, value]) => ({ bytes: Buffer.from(key), text: `${key}:${print(value)}` }));
  const sorted = keyed.toSorted((a, b) => Buffer.compare(a.bytes, b.bytes));
  return `map[${sorted.map(({ text }) => text).join(' ')}]`;
}
