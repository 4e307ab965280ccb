import type { V1ResourceRequirements } from '@kubernetes/client-node';
import { Quantity } from '../quantity.ts';
import type { Given } from './given.ts';
import { notNegative } from './checks.ts';
import type { FieldErrors } from './field-error.ts';
import { isQualifiedName } from './formats.ts';
import type { StringMap } from './labels.ts';

export type ResourceRequirements = Pick<Given<V1ResourceRequirements>, 'limits' | 'requests'>;

const hugePagesPrefix = 'hugepages-';
const containerResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const countedObjects = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const integerResources: ReadonlySet<string> = new Set(countedObjects);
const standardResources: ReadonlySet<string> = new Set([
  ...containerResources,
  ...['cpu', 'memory', 'ephemeral-storage'].flatMap((r) => [`requests.${r}`, `limits.${r}`]),
  'storage',
  'requests.storage',
  ...countedObjects,
]);

const isHugePages = (name: string): boolean => name.startsWith(hugePagesPrefix);
/** Of Kubernetes itself: without a domain, or in one of kubernetes.io. */
const isNative = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');
const isOvercommitAllowed = (name: string): boolean => isNative(name) && !isHugePages(name);

/** A device plugin's, such as nvidia.com/gpu: the name must also do with `requests.` before it, as quotas write it. */
export function isExtendedResourceName(name: string): boolean {
  return !isNative(name) && !name.startsWith('requests.') && isQualifiedName(`requests.${name}`).length === 0;
}

/** Undefined for text that is no quantity, which decoding refuses. */
export function readQuantity(text: string): Quantity | undefined {
  try {
    return Quantity.fromJson(text);
  } catch {
    return undefined;
  }
}

export const isStandardResource = (name: string): boolean =>
  standardResources.has(name) || isHugePages(name) || name.startsWith(`requests.${hugePagesPrefix}`);

function validateResourceName(name: string, at: string, errors: FieldErrors): void {
  if (containerResources.has(name)) return;
  const malformed = isQualifiedName(name);
  errors.invalidEach(at, name, malformed);
  if (!name.includes('/')) {
    if (malformed.length === 0 && !isStandardResource(name))
      errors.invalid(at, name, 'must be a standard resource type or fully qualified');
    if (!isHugePages(name)) errors.invalid(at, name, 'must be a standard resource for containers');
  } else if (!isNative(name) && !isExtendedResourceName(name)) {
    errors.invalid(at, name, "doesn't follow extended resource name standard");
  }
}

function validateQuantityOf(resource: string, quantity: Quantity, at: string, errors: FieldErrors): void {
  if (quantity.sign() < 0) errors.invalid(at, quantity.canonical(), notNegative);
  if (isHugePages(resource) && !isWholePages(resource, quantity)) {
    errors.invalid(at, quantity.canonical(), `${quantity.canonical()} is not positive integer multiple of ${resource}`);
  }
  const countsWhole = integerResources.has(resource) || isExtendedResourceName(resource);
  if (countsWhole && !quantity.isWhole()) errors.invalid(at, quantity.canonical(), 'must be an integer');
}

function isWholePages(resource: string, quantity: Quantity): boolean {
  const page = readQuantity(resource.slice(hugePagesPrefix.length));
  return page !== undefined && page.sign() > 0 && quantity.value() % page.value() === 0n;
}

/** Names, amounts, and request against limit (pkg/apis/core/validation ValidateResourceRequirements). */
export function validateResourceRequirements(
  requirements: ResourceRequirements,
  at: string,
  errors: FieldErrors,
  validateName: typeof validateResourceName = validateResourceName,
): void {
  const limits = readAmounts(requirements.limits, `${at}.limits`, errors, validateName);
  const requests = readAmounts(requirements.requests, `${at}.requests`, errors, validateName);
  for (const [name, request] of requests) {
    const limit = limits.get(name);
    const overcommit = isOvercommitAllowed(name);
    if (limit === undefined) {
      if (!overcommit) errors.required(`${at}.limits`, 'Limit must be set for non overcommitable resources');
      continue;
    }
    const order = request.cmp(limit);
    if (!overcommit && order !== 0)
      errors.invalid(`${at}.requests`, request.canonical(), `must be equal to ${name} limit of ${limit.canonical()}`);
    else if (order > 0)
      errors.invalid(`${at}.requests`, request.canonical(), `must be less than or equal to ${name} limit of ${limit.canonical()}`);
  }
  const names = [...limits.keys(), ...requests.keys()];
  if (names.some(isHugePages) && !names.some((name) => name === 'cpu' || name === 'memory')) {
    errors.forbidden(at, 'HugePages require cpu or memory');
  }
}

function readAmounts(
  list: StringMap | undefined,
  at: string,
  errors: FieldErrors,
  validateName: typeof validateResourceName,
): ReadonlyMap<string, Quantity> {
  const amounts = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(list ?? {})) {
    const here = `${at}[${name}]`;
    const quantity = readQuantity(text);
    validateName(name, here, errors);
    if (quantity === undefined) continue;
    amounts.set(name, quantity);
    validateQuantityOf(name, quantity, here, errors);
  }
  return amounts;
}

/** The sizes of huge pages that a pod's containers name. */
export function hugePageResources(of: readonly { readonly resources?: ResourceRequirements }[]): readonly string[] {
  const names = of.flatMap(({ resources }) => [...Object.keys(resources?.requests ?? {}), ...Object.keys(resources?.limits ?? {})]);
  return [...new Set(names.filter(isHugePages))].sort();
}
