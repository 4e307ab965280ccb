import type { V1TopologySpreadConstraint } from '@kubernetes/client-node';
import type { Given } from './given.ts';
import { notPositive } from './checks.ts';
import type { FieldErrors } from './field-error.ts';
import { validateLabelSelector } from './labels.ts';
import { validateMatchLabelKeys } from './match-label-keys.ts';

const policies: readonly string[] = ['Honor', 'Ignore'];
const actions: readonly string[] = ['DoNotSchedule', 'ScheduleAnyway'];

export function validateTopologySpread(constraints: readonly Given<V1TopologySpreadConstraint>[], at: string, errors: FieldErrors): void {
  const pairs = constraints.map(({ topologyKey = '', whenUnsatisfiable = '' }) => `{${topologyKey}, ${whenUnsatisfiable}}`);
  for (const [i, constraint] of constraints.entries()) {
    const { maxSkew = 0, minDomains, topologyKey = '', whenUnsatisfiable = '', labelSelector } = constraint;
    const here = `${at}[${i}]`;
    if (maxSkew <= 0) errors.invalid(`${here}.maxSkew`, maxSkew, notPositive);
    if (topologyKey === '') errors.required(`${here}.topologyKey`, 'can not be empty');
    if (!actions.includes(whenUnsatisfiable)) errors.notSupported(`${here}.whenUnsatisfiable`, whenUnsatisfiable, actions);
    if (minDomains !== undefined && minDomains <= 0) errors.invalid(`${here}.minDomains`, minDomains, notPositive);
    if (minDomains !== undefined && whenUnsatisfiable !== 'DoNotSchedule') {
      const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
      errors.invalid(`${here}.minDomains`, minDomains, why);
    }
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      const value = constraint[policy];
      if (value !== undefined && !policies.includes(value)) errors.notSupported(`${here}.${policy}`, value, policies);
    }
    validateLabelSelector(labelSelector, `${here}.labelSelector`, errors);
    validateMatchLabelKeys(constraint.matchLabelKeys ?? [], labelSelector !== undefined, `${here}.matchLabelKeys`, errors);
    const pair = pairs[i] ?? '';
    // The one reported is the one that comes again later.
    if (pairs.includes(pair, i + 1)) errors.duplicate(`${here}.{topologyKey, whenUnsatisfiable}`, pair);
  }
}
