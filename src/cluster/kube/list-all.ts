import { isGone } from '../../model/api-error.ts';
import type { KubeApi, WatchedObject, WatchTarget } from '../../ports/kube-api.ts';

/** How fresh a list has to be. `any`: what the server has at hand; a version: not older than that; `latest`: asked of etcd itself. */
export type ListFrom = 'any' | 'latest' | { readonly notOlderThan: string };

export interface ListedObjects<T> {
  readonly items: readonly T[];
  /** Watch from here. */
  readonly resourceVersion: string;
}

interface ListPage<T> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly T[] | null;
}

const PAGE_SIZE = 500;
/** Larger collections take their time. */
const DEADLINE_MS = 60_000;

/**
 * A whole collection, in pages where the server pages. As client-go's reflector and pager have it (tools/cache/reflector.go,
 * tools/pager/pager.go): no limit together with a version, which would mean exactly that version; all at once when a page has
 * expired meanwhile.
 */
export async function listAll<T extends WatchedObject>(
  api: Pick<KubeApi, 'request'>,
  { path, fieldSelector, labelSelector }: WatchTarget,
  from: ListFrom,
  signal: AbortSignal,
): Promise<ListedObjects<T>> {
  const get = (query: Readonly<Record<string, string | number>>): Promise<ListPage<T>> =>
    api.request<ListPage<T>>({ method: 'GET', path, query: { fieldSelector, labelSelector, ...query }, timeoutMs: DEADLINE_MS }, signal);
  const first =
    typeof from === 'object'
      ? { resourceVersion: from.notOlderThan }
      : from === 'any'
        ? { resourceVersion: '0', limit: PAGE_SIZE }
        : { limit: PAGE_SIZE };
  let page = await get(first);
  const items = [...(page.items ?? [])];
  // All pages are of the first one's version.
  const resourceVersion = page.metadata?.resourceVersion ?? '';
  while (page.metadata?.continue) {
    try {
      page = await get({ limit: PAGE_SIZE, continue: page.metadata.continue });
    } catch (error) {
      if (!isGone(error)) throw error;
      const whole = await get({});
      return { items: whole.items ?? [], resourceVersion: whole.metadata?.resourceVersion ?? '' };
    }
    for (const item of page.items ?? []) items.push(item);
  }
  return { items, resourceVersion };
}
