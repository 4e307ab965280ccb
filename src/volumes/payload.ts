import { isNotFound } from '../model/api-error.ts';
import type { ObjectReferenceOfPod, ReferencedKind } from '../model/pod-references.ts';
import type { Pod } from '../model/pod.ts';
import type { ObjectStore, ReferencedObject } from '../ports/object-store.ts';
import type { ServiceAccountTokens } from '../ports/service-account-tokens.ts';

/** One file of a volume. */
export interface PayloadFile {
  /** Within the volume, with slashes. */
  readonly path: string;
  readonly data: Uint8Array;
  /** Permission bits. */
  readonly mode: number;
  /** Owner; undefined: root. */
  readonly uid?: number;
}

/** What the volume kinds that are made of API data ask of their surroundings. */
export interface PayloadFacts {
  readonly objects: Pick<ObjectStore, 'get'>;
  readonly tokens: Pick<ServiceAccountTokens, 'get'>;
  /** What the node has for pods: stands in for limits that a container does not set. */
  readonly allocatable: () => Readonly<Record<string, string>>;
}

export type PayloadOf<T> = (source: T, pod: Pod, facts: PayloadFacts, signal: AbortSignal) => Promise<readonly PayloadFile[]>;

/** Kubernetes' default for defaultMode. */
export const DEFAULT_MODE = 0o644;

/** The object; undefined when it is missing and may be. */
export async function optionalObject(
  kind: ReferencedKind,
  name: string | undefined,
  optional: boolean | undefined,
  pod: Pod,
  { objects }: Pick<PayloadFacts, 'objects'>,
  signal: AbortSignal,
): Promise<ReferencedObject | undefined> {
  const reference: ObjectReferenceOfPod = { kind, namespace: pod.metadata.namespace, name: name ?? '' };
  try {
    return await objects.get(reference, signal);
  } catch (error) {
    if (optional && isNotFound(error)) return undefined;
    throw error;
  }
}

interface Item {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

/** Keys as files: all of them, or those that are named, at their paths. */
export function filesOf(
  keys: ReadonlyMap<string, Uint8Array>,
  { items, defaultMode, optional }: { readonly items?: readonly Item[]; readonly defaultMode?: number; readonly optional?: boolean },
  what: 'secret' | 'config',
): readonly PayloadFile[] {
  const byDefault = defaultMode ?? DEFAULT_MODE;
  if (items === undefined || items.length === 0) return [...keys].map(([path, data]) => ({ path, data, mode: byDefault }));
  return items.flatMap(({ key, path, mode }) => {
    const data = keys.get(key);
    if (data !== undefined) return [{ path, data, mode: mode ?? byDefault }];
    if (optional) return [];
    throw new Error(`references non-existent ${what} key: ${key}`);
  });
}

/** Several faults in one message, as the kubelet joins them (apimachinery util/errors NewAggregate). */
export function throwAll(errors: readonly unknown[]): void {
  if (errors.length === 0) return;
  const messages = [...new Set(errors.map((error) => (error instanceof Error ? error.message : String(error))))];
  throw new Error(messages.length === 1 ? messages[0] : `[${messages.join(', ')}]`, { cause: errors[0] });
}
