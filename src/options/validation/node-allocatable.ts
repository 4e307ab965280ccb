import { type CheckedSettings, invalid, type Rule } from './checked-settings.ts';
import { unknownWord } from './unknown-word.ts';

const setting = 'enforceNodeAllocatable (--enforce-node-allocatable)';
const words = ['pods', 'system-reserved', 'system-reserved-compressible', 'kube-reserved', 'kube-reserved-compressible', 'none'];
const reserved = [
  ['system-reserved', 'systemReservedCgroup', 'systemReservedCgroup (--system-reserved-cgroup)'],
  ['kube-reserved', 'kubeReservedCgroup', 'kubeReservedCgroup (--kube-reserved-cgroup)'],
] as const;

/** What is held to the node's allocatable resources, and the cgroups that takes. */
export const nodeAllocatable: Rule = (of) => {
  const given = of.texts('enforceNodeAllocatable');
  const faults: string[] = [];
  if (of.text('systemCgroups') !== '' && of.text('cgroupRoot') === '')
    faults.push(invalid('systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified'));
  for (const [all] of reserved) {
    if (given.includes(all) && given.includes(`${all}-compressible`))
      faults.push(invalid(`both "${all}" and "${all}-compressible" cannot be specified together in ${setting}`));
  }
  const seen = new Set<string>();
  for (const word of given) {
    if (seen.has(word)) faults.push(invalid(`duplicated enforcements ${JSON.stringify(word)} in ${setting}`));
    else faults.push(...faultsOf(word, given, of));
    seen.add(word);
  }
  return faults;
};

function faultsOf(word: string, given: readonly string[], of: CheckedSettings): readonly string[] {
  if (word === 'none')
    return given.length > 1 ? [invalid(`${setting} may not contain additional enforcements when "none" is specified`)] : [];
  if (!words.includes(word)) return [invalid(unknownWord(word, words, setting))];
  const faults: string[] = [];
  for (const [all, field, name] of reserved) {
    const wants = word === all || word === `${all}-compressible`;
    if (wants && of.text(field) === '')
      faults.push(invalid(`${name} must be specified when "${all}" or "${all}-compressible" included in ${setting}`));
  }
  if (!of.isOn('cgroupsPerQOS'))
    faults.push(invalid(`cgroupsPerQOS (--cgroups-per-qos) must be set to true when ${JSON.stringify(word)} contained in ${setting}`));
  return faults;
}
