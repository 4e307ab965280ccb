import type { V1Affinity, V1NodeSelectorRequirement, V1NodeSelectorTerm, V1PodAffinity, V1PodAffinityTerm } from '@kubernetes/client-node';
import type { Given } from './given.ts';
import { validateDns1123Label } from './checks.ts';
import type { FieldErrors } from './field-error.ts';
import { isDns1123Subdomain, isLabelValue } from './formats.ts';
import { validateMatchLabelKeys } from './match-label-keys.ts';
import { validateLabelName, validateLabelSelector, validateValueCount } from './labels.ts';

export function validateAffinity(affinity: Given<V1Affinity> | undefined, at: string, errors: FieldErrors): void {
  if (affinity === undefined) return;
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  if (nodeAffinity !== undefined) validateNodeAffinity(nodeAffinity, `${at}.nodeAffinity`, errors);
  if (podAffinity !== undefined) validatePodAffinity(podAffinity, `${at}.podAffinity`, errors);
  if (podAntiAffinity !== undefined) validatePodAffinity(podAntiAffinity, `${at}.podAntiAffinity`, errors);
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

function validateNodeAffinity(affinity: NonNullable<Given<V1Affinity>['nodeAffinity']>, at: string, errors: FieldErrors): void {
  const terms = affinity[required]?.nodeSelectorTerms ?? [];
  const here = `${at}.${required}.nodeSelectorTerms`;
  if (affinity[required] !== undefined && terms.length === 0) errors.required(here, 'must have at least one node selector term');
  for (const [i, term] of terms.entries()) {
    validateNodeSelectorTerm(term, `${here}[${i}]`, errors);
    validateLabelValues(term, `${here}[${i}]`, errors);
  }
  for (const [i, { weight, preference }] of (affinity[preferred] ?? []).entries()) {
    validateWeight(weight, `${at}.${preferred}[${i}]`, errors);
    validateNodeSelectorTerm(preference ?? {}, `${at}.${preferred}[${i}].preference`, errors);
  }
}

/** Of what a node must have: values that no label has would never be found. */
function validateLabelValues({ matchExpressions = [] }: Given<V1NodeSelectorTerm>, at: string, errors: FieldErrors): void {
  for (const [i, { operator, values = [] }] of matchExpressions.entries()) {
    if (operator !== 'In' && operator !== 'NotIn') continue;
    for (const [j, value] of values.entries()) errors.invalidEach(`${at}.matchExpressions[${i}].values[${j}]`, value, isLabelValue(value));
  }
}

function validateWeight(weight: number | undefined, at: string, errors: FieldErrors): void {
  if (weight === undefined || weight <= 0 || weight > 100) errors.invalid(`${at}.weight`, weight ?? 0, 'must be in the range 1-100');
}

function validateNodeSelectorTerm(term: Given<V1NodeSelectorTerm>, at: string, errors: FieldErrors): void {
  for (const [i, { key = '', operator = '', values = [] }] of (term.matchExpressions ?? []).entries()) {
    const here = `${at}.matchExpressions[${i}]`;
    validateValueCount(operator, values, here, errors, true);
    validateLabelName(key, `${here}.key`, errors);
  }
  for (const [i, requirement] of (term.matchFields ?? []).entries()) {
    validateFieldRequirement(requirement, `${at}.matchFields[${i}]`, errors);
  }
}

/** A node's only field to choose by is its name. */
function validateFieldRequirement(
  { key = '', operator = '', values = [] }: Given<V1NodeSelectorRequirement>,
  at: string,
  errors: FieldErrors,
): void {
  if (operator !== 'In' && operator !== 'NotIn') errors.invalid(`${at}.operator`, operator, 'not a valid selector operator');
  else if (values.length !== 1) {
    errors.required(`${at}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  if (key !== 'metadata.name') return errors.invalid(`${at}.key`, key, 'not a valid field selector key');
  for (const [i, value] of values.entries()) errors.invalidEach(`${at}.values[${i}]`, value, isDns1123Subdomain(value));
}

function validatePodAffinity(affinity: Given<V1PodAffinity>, at: string, errors: FieldErrors): void {
  for (const [i, term] of (affinity[required] ?? []).entries()) validatePodAffinityTerm(term, `${at}.${required}[${i}]`, errors);
  for (const [i, { weight, podAffinityTerm }] of (affinity[preferred] ?? []).entries()) {
    const here = `${at}.${preferred}[${i}]`;
    validateWeight(weight, here, errors);
    validatePodAffinityTerm(podAffinityTerm ?? { topologyKey: '' }, `${here}.podAffinityTerm`, errors);
  }
}

/** The odd paths, `matchExpressions` and `namespace`, are Kubernetes'. */
function validatePodAffinityTerm(term: Given<V1PodAffinityTerm>, at: string, errors: FieldErrors): void {
  const { labelSelector, namespaces = [], topologyKey = '', matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  validateLabelSelector(labelSelector, `${at}.matchExpressions`, errors);
  validateMatchLabelKeys(matchLabelKeys, labelSelector !== undefined, `${at}.matchLabelKeys`, errors);
  validateMatchLabelKeys(mismatchLabelKeys, labelSelector !== undefined, `${at}.mismatchLabelKeys`, errors);
  for (const [i, key] of matchLabelKeys.entries()) {
    if (mismatchLabelKeys.includes(key))
      errors.invalid(`${at}.matchLabelKeys[${i}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys');
  }
  for (const namespace of namespaces) validateDns1123Label(namespace, `${at}.namespace`, errors);
  if (topologyKey === '') errors.required(`${at}.topologyKey`, 'can not be empty');
  validateLabelName(topologyKey, `${at}.topologyKey`, errors);
}
