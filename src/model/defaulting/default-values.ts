import type { V1ObjectFieldSelector } from '@kubernetes/client-node';
import type { ResourceList } from '../node.ts';
import { Quantity, QuantityParseError } from '../quantity.ts';
import type { Wire } from '../wire.ts';

export const defaultFieldRef = (ref: Wire<V1ObjectFieldSelector>): Wire<V1ObjectFieldSelector> => ({
  ...ref,
  apiVersion: ref.apiVersion || 'v1',
});

/** Nothing finer than a thousandth is kept of a resource. Text that is no quantity is left as it is. */
export function roundUpToMilli(list: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(list).map(([name, amount]) => [name, roundedUp(amount)]));
}

function roundedUp(amount: string): string {
  try {
    return Quantity.fromJson(amount).roundUp(-3).canonical();
  } catch (error) {
    if (error instanceof QuantityParseError) return amount;
    throw error;
  }
}
