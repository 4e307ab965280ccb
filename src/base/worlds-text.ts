import { boundedCounts } from './bounded-counts.ts';
import { exposition } from './exposition.ts';

/** How many there are of each name, and how many there are to be; of too many names the first ones count by themselves. */
export interface Worlds {
  readonly actual: readonly string[];
  readonly desired: readonly string[];
}

/** A metric as the kubelet's managers have it that bring an actual state of the world to a desired one. `label` holds the name. */
export function worldsText(
  metric: { readonly name: string; readonly help: string; readonly label: string },
  { actual, desired }: Worlds,
): string {
  const { name, help, label } = metric;
  const samples = (state: string, names: readonly string[]) =>
    [...boundedCounts(names)].map(([each, value]) => ({ labels: { [label]: each, state }, value }));
  const all = [...samples('actual_state_of_world', actual), ...samples('desired_state_of_world', desired)];
  return exposition([{ name, help: `[ALPHA] ${help}`, type: 'gauge', samples: all }]);
}
