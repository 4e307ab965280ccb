import { containerTotal } from '../pod-resources.ts';
import { isPodLevelResource } from '../pod-level-resources.ts';
import type { PodSpec } from '../pod.ts';
import { QuantityParseError } from '../quantity.ts';
import { roundUpToMilli } from './default-values.ts';

type Resources = NonNullable<PodSpec['resources']>;
type Amounts = NonNullable<Resources['limits']>;

/**
 * What a pod as a whole asks for where it says so in part: huge pages are limited to what its containers may have, and each request that is
 * missing is what its containers ask for, else the limit (defaultHugePagePodLimits and defaultPodRequests in pkg/apis/core/v1). `spec` holds
 * containers that have their own defaults.
 */
export function defaultPodResources(spec: PodSpec): Resources | undefined {
  if (spec.resources === undefined) return undefined;
  const { limits: givenLimits, requests: givenRequests, ...others } = spec.resources;
  const limits = givenLimits && roundUpToMilli(givenLimits);
  const requests = givenRequests && roundUpToMilli(givenRequests);
  const rounded = { ...others, ...(limits && { limits }), ...(requests && { requests }) };
  if (isEmpty(limits) && isEmpty(requests)) return rounded;
  try {
    const limited = limits ?? {};
    const asked = requests ?? {};
    const hugePages = missing(limited, spec, 'limits', (name) => isHugePages(name) && !Object.hasOwn(asked, name));
    const allLimits = { ...limited, ...hugePages };
    if (isEmpty(allLimits)) return rounded;
    const ofContainers = missing(asked, spec, 'requests', (name) => isPodLevelResource(name) && !isHugePages(name));
    const ofLimits = Object.entries(allLimits).filter(([name]) => isPodLevelResource(name));
    const allRequests = { ...Object.fromEntries(ofLimits), ...ofContainers, ...asked };
    return { ...others, limits: allLimits, ...(!isEmpty(allRequests) && { requests: allRequests }) };
  } catch (error) {
    // Validation says which amount is none.
    if (error instanceof QuantityParseError) return rounded;
    throw error;
  }
}

const isEmpty = (amounts: Amounts | undefined): boolean => Object.keys(amounts ?? {}).length === 0;
const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

/** What the containers have together of resources that `given` leaves out. */
function missing(given: Amounts, spec: PodSpec, which: 'limits' | 'requests', counts: (name: string) => boolean): Amounts {
  const total = [...containerTotal({ spec }, which)].filter(([name]) => counts(name) && !Object.hasOwn(given, name));
  return Object.fromEntries(total.map(([name, amount]) => [name, amount.canonical()]));
}
