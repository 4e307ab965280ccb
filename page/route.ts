import type { Route } from './page-state.ts';

/** Of a location's hash: "#pod/default/web". What is none leads to the pods. */
export function routeOf(hash: string): Route {
  const [view = '', namespace = '', name = ''] = hash.replace(/^#/, '').split('/').map(decoded);
  switch (view) {
    case 'pod':
      return namespace === '' || name === '' ? { view: 'pods' } : { view: 'pod', pod: `${namespace}/${name}` };
    case 'node':
    case 'stream':
    case 'plan':
      return { view };
    default:
      return { view: 'pods' };
  }
}

/** The link to a pod, "namespace/name". */
export const podLink = (pod: string): string => `#pod/${pathOf(pod)}`;

/** "namespace/name" as a path. */
export const pathOf = (pod: string): string => pod.split('/').map(encodeURIComponent).join('/');

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
