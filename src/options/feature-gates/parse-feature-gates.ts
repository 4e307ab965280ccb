import { truths } from '../truths.ts';
import type { GivenGates } from './feature-gates.ts';

/** Carries the message of component-base/featuregate. */
export class FeatureGatesError extends Error {
  override readonly name = 'FeatureGatesError';
}

/**
 * "A=true,B=false" (component-base/featuregate Set): blanks around names and values are dropped, the last of a name counts. Throws
 * FeatureGatesError.
 */
export function parseFeatureGates(text: string): GivenGates {
  const gates = new Map<string, boolean>();
  for (const pair of text.split(',')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = (at < 0 ? pair : pair.slice(0, at)).trim();
    if (at < 0) throw new FeatureGatesError(`missing bool value for ${name}`);
    const value = pair.slice(at + 1).trim();
    const on = truths.get(value);
    if (on === undefined)
      throw new FeatureGatesError(
        `invalid value of ${name}=${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`,
      );
    gates.set(name, on);
  }
  return Object.fromEntries(gates);
}
