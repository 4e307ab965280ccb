import type { PodFieldGates } from '../../model/pod-field-gates.ts';
import { featureGates, type GivenGates } from './feature-gates.ts';

export function podFieldGates(given: GivenGates): PodFieldGates {
  const gates = featureGates(given);
  return { envFiles: gates.isOn('EnvFiles'), containerRestartRules: gates.isOn('ContainerRestartRules') };
}
