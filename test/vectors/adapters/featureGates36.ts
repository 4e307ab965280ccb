import { featureGates } from '../../../src/options/feature-gates/feature-gates.ts';
import { FeatureGatesError, parseFeatureGates } from '../../../src/options/feature-gates/parse-feature-gates.ts';

interface Input {
  readonly flag?: string;
  readonly map?: Readonly<Record<string, boolean>>;
  readonly ask?: readonly string[];
}

export function run({ flag, map = {}, ask = [] }: Input): unknown {
  try {
    const gates = featureGates(flag === undefined ? map : parseFeatureGates(flag));
    if (gates.faults.length > 0) return { errors: gates.faults.toSorted() };
    return { enabled: Object.fromEntries(ask.map((name) => [name, gates.stateOf(name)])), invalid: [] };
  } catch (error) {
    if (error instanceof FeatureGatesError) return { errors: [error.message] };
    throw error;
  }
}
