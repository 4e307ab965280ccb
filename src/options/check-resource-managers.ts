import type { FeatureGates } from './feature-gates/feature-gates.ts';
import type { OptionValues } from './options-table.ts';
import { cpuPolicyOptionFaults, cpuPolicyOptions, topologyPolicyOptionFaults } from './resource-manager-options.ts';
import { resourceManagerOptions } from './table/resource-managers.ts';
import { unknownWord } from './validation/unknown-word.ts';

type Values = Pick<OptionValues, keyof typeof resourceManagerOptions>;

const named = (name: keyof Values): string => `${resourceManagerOptions[name].config} (--${resourceManagerOptions[name].flag})`;

/** What a kubelet's resource managers do not start with, and the options that contradict each other: a sentence each. */
export function resourceManagerProblems(values: Values, gates: Pick<FeatureGates, 'isOn'>): readonly string[] {
  const { cpuManagerPolicy: policy, cpuManagerPolicyOptions: options, topologyManagerPolicy } = values;
  const problems: string[] = [];
  const say = (name: keyof Values, fault: string): number => problems.push(`invalid configuration: ${named(name)}: ${fault}`);
  if (!['none', 'static'].includes(policy))
    problems.push(`invalid configuration: ${unknownWord(policy, ['none', 'static'], named('cpuManagerPolicy'))}`);
  if (!['None', 'Static'].includes(values.memoryManagerPolicy))
    problems.push(`invalid configuration: ${unknownWord(values.memoryManagerPolicy, ['None', 'Static'], named('memoryManagerPolicy'))}`);
  if (policy === 'none' && Object.keys(options).length > 0)
    say('cpuManagerPolicyOptions', `the policy none has no options, found ${Object.keys(options).join(', ')}`);
  if (policy === 'static') {
    const faults = cpuPolicyOptionFaults(options, (gate) => gates.isOn(gate));
    for (const fault of faults) say('cpuManagerPolicyOptions', fault);
    if (faults.length === 0 && cpuPolicyOptions(options).alignBySocket && topologyManagerPolicy === 'single-numa-node')
      say('cpuManagerPolicyOptions', `align-by-socket does not go with ${named('topologyManagerPolicy')} single-numa-node`);
  }
  if (topologyManagerPolicy !== 'none')
    for (const fault of topologyPolicyOptionFaults(values.topologyManagerPolicyOptions)) say('topologyManagerPolicyOptions', fault);
  return problems;
}
