import type { V1TopologySpreadConstraint } from '@kubernetes/client-node';
import type { Given } from './given.ts';
import { notPositive } from './checks.ts';
import type { FieldErrors } from './field-error.ts';

const actions: readonly string[] = ['DoNotSchedule', 'ScheduleAnyway'];

export function validateTopologySpread(constraints: readonly Given<V1TopologySpreadConstraint>[], at: string, errors: FieldErrors): void {
  const pairs = constraints.map(({ topologyKey = '', whenUnsatisfiable = '' }) => `{${topologyKey}, ${whenUnsatisfiable}}`);
  for (const [i, { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '' }] of constraints.entries()) {
    const here = `${at}[${i}]`;
    if (maxSkew <= 0) errors.invalid(`${here}.maxSkew`, maxSkew, notPositive);
    if (topologyKey === '') errors.required(`${here}.topologyKey`, 'can not be empty');
    if (!actions.includes(whenUnsatisfiable)) errors.notSupported(`${here}.whenUnsatisfiable`, whenUnsatisfiable, actions);
    const pair = pairs[i] ?? '';
    // The one reported is the one that comes again later.
    if (pairs.includes(pair, i + 1)) errors.duplicate(`${here}.{topologyKey, whenUnsatisfiable}`, pair);
  }
}
