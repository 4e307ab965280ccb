import { isLabelValue, isQualifiedName } from '../../model/validation/formats.ts';
import { invalid, type Rule } from './checked-settings.ts';
import { unknownWord } from './unknown-word.ts';

const topologyPolicies = ['none', 'best-effort', 'restricted', 'single-numa-node'];
const hairpinModes = ['none', 'hairpin-veth', 'promiscuous-bridge'];
/** Of a pod's user namespace. */
const ID_RANGE = 65_536;

/** How the node is set up. */
export const node: Rule = (of) => {
  const faults: (string | false)[] = [];
  for (const { key = '', value = '', effect = '', timeAdded } of of.maps('registerWithTaints')) {
    const isWellFormed =
      isQualifiedName(String(key)).length === 0 &&
      isLabelValue(String(value)).length === 0 &&
      ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'].includes(String(effect));
    if (!isWellFormed)
      faults.push(
        `invalid taint: {${String(key)} ${String(value)} ${String(effect)} ${typeof timeAdded === 'string' ? timeAdded : '<nil>'}}`,
      );
    if (typeof timeAdded === 'string') faults.push(invalid('taint.TimeAdded is not nil'));
  }
  const [policy, scope, hairpin] = [of.text('topologyManagerPolicy'), of.text('topologyManagerScope'), of.text('hairpinMode')];
  const quoted = topologyPolicies.map((each) => JSON.stringify(each)).join(' ');
  return [
    ...faults,
    !topologyPolicies.includes(policy) &&
      invalid(`topologyManagerPolicy (--topology-manager-policy) ${JSON.stringify(policy)} must be one of: [${quoted}]`),
    !['container', 'pod'].includes(scope) &&
      invalid(`topologyManagerScope (--topology-manager-scope) ${JSON.stringify(scope)} must be one of: "container", or "pod"`),
    !hairpinModes.includes(hairpin) && invalid(unknownWord(hairpin, hairpinModes, 'hairpinMode (--hairpin-mode)')),
    of.isOn('serverTLSBootstrap') &&
      !of.gate('RotateKubeletServerCertificate') &&
      invalid('serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate'),
    of.isOn('enableSystemLogQuery') &&
      !of.isOn('enableSystemLogHandler') &&
      invalid('enableSystemLogHandler is required for enableSystemLogQuery'),
  ];
};

/** What Kubernetes checks on Linux only (validateKubeletOSConfiguration), without what it asks of the machine. */
export const userNamespaces: Rule = (of) => {
  const field = 'userNamespaces.idsPerPod';
  if (!of.has(field)) return [];
  const ids = of.number(field);
  if (ids < ID_RANGE) return [invalid(`${field} must not be less than ${ID_RANGE}`)];
  if (ids % ID_RANGE !== 0) return [invalid(`${field} must be a multiple of ${ID_RANGE}`)];
  return ids >= 2 ** 32 ? [invalid(`${field} must not be more than ${2 ** 32 - 1}`)] : [];
};
