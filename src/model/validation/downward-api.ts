import type { V1ObjectFieldSelector, V1ResourceFieldSelector } from '@kubernetes/client-node';
import { toLower } from '../go-text.ts';
import type { Given } from './given.ts';
import { splitSubscript } from '../field-path.ts';
import type { FieldErrors } from './field-error.ts';
import { isQualifiedName } from './formats.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';
import { readQuantity } from './resources.ts';

export const envFieldPaths: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
export const volumeFieldPaths: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
/** Names of pod fields that no source may use, yet differ from unknown ones (ConvertDownwardAPIFieldLabel). */
export const knownFieldPaths: ReadonlySet<string> = new Set([
  ...envFieldPaths,
  ...volumeFieldPaths,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

export function validateObjectFieldSelector(
  { apiVersion = '', fieldPath = '' }: Given<V1ObjectFieldSelector>,
  allowed: readonly string[],
  at: string,
  errors: FieldErrors,
): void {
  const here = `${at}.fieldPath`;
  const unconvertible = (why: string): void => errors.invalid(here, fieldPath, `error converting fieldPath: ${why}`);
  if (apiVersion === '') return errors.required(`${at}.apiVersion`);
  if (fieldPath === '') return errors.required(here);
  if (apiVersion !== 'v1') return unconvertible(`unsupported pod version: ${apiVersion}`);
  const { path, subscript = '' } = splitSubscript(fieldPath) ?? {};
  if (path === 'metadata.annotations' || path === 'metadata.labels') {
    const key = path === 'metadata.labels' ? subscript : toLower(subscript);
    return errors.invalidEach(at, subscript, isQualifiedName(key));
  }
  if (path !== undefined) return unconvertible(`field label does not support subscript: ${fieldPath}`);
  const internal = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (!knownFieldPaths.has(internal)) return unconvertible(`field label not supported: ${fieldPath}`);
  if (!allowed.includes(internal)) errors.notSupported(here, internal, allowed);
}

const resourcePaths: readonly string[] = ['limits', 'requests'].flatMap((list) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((resource) => `${list}.${resource}`),
);
const hugePagesPath = /^(limits|requests)\.hugepages-/;
const byteDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];
const onlyBytes = `only divisor's values ${byteDivisors.join(', ')} are supported with the`;
const divisorRules: readonly { readonly of: RegExp; readonly allowed: readonly string[]; readonly detail: string }[] = [
  { of: /\.cpu$/, allowed: ['1m', '1'], detail: "only divisor's values 1m and 1 are supported with the cpu resource" },
  { of: /\.memory$/, allowed: byteDivisors, detail: `${onlyBytes} memory resource` },
  { of: /\.ephemeral-storage$/, allowed: byteDivisors, detail: `${onlyBytes} local ephemeral storage resource` },
];
const hugePagesDivisor = { allowed: byteDivisors, detail: `${onlyBytes} hugepages resource` };

/** In a volume the container must be named; in a variable it is the container's own. */
export function validateResourceFieldSelector(
  { containerName = '', resource = '', divisor }: Given<V1ResourceFieldSelector>,
  place: 'env' | 'volume',
  at: string,
  errors: FieldErrors,
  options: PodValidationOptions,
): void {
  const isHugePages = hugePagesPath.test(resource);
  const isKnown = resourcePaths.includes(resource);
  if (place === 'volume' && containerName === '') errors.required(`${at}.containerName`);
  else if (resource === '') errors.required(`${at}.resource`);
  else if (!isKnown && !(options.allowDownwardAPIHugePages && isHugePages)) {
    errors.notSupported(`${at}.resource`, resource, resourcePaths);
  }
  const rule = isHugePages ? hugePagesDivisor : isKnown ? divisorRules.find(({ of }) => of.test(resource)) : undefined;
  const quantity = readQuantity(divisor ?? '0');
  if (rule === undefined || quantity === undefined || quantity.isZero()) return;
  if (!rule.allowed.includes(quantity.canonical())) errors.invalid(`${at}.divisor`, resource, rule.detail);
}
