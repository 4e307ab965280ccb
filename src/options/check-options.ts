import { podSources } from '../model/host-privileges.ts';
import { isForbiddenNodeLabel, kubeletLabelNamespaces, kubeletLabels } from '../model/kubelet-labels.ts';
import { sysctlPatternFault } from '../model/sysctls.ts';
import { tlsCipherSuites } from '../model/tls-settings.ts';
import { isLabelValue, isQualifiedName } from '../model/validation/formats.ts';
import { optionsTable, type OptionName, type OptionValues } from './options-table.ts';

/** "syncFrequency (--sync-frequency)", as the kubelet's own messages name a setting. */
function named(name: OptionName): string {
  const { flag, config }: { flag?: string; config?: string } = optionsTable[name];
  if (config === undefined) return `--${flag}`;
  return flag === undefined ? config : `${config} (--${flag})`;
}

const tickers = [
  'fileCheckFrequencyMs',
  'httpCheckFrequencyMs',
  'syncFrequencyMs',
  'imagePullProgressDeadlineMs',
  'nodeStatusUpdateFrequencyMs',
  'nodeStatusReportFrequencyMs',
] as const;
const countersFromZero = [
  'eventBurst',
  'eventQps',
  'kubeApiBurst',
  'kubeApiQps',
  'maxPods',
  'podsPerCore',
  'registryBurst',
  'registryQps',
] as const;

/** What is wrong with the values, alone or together, one sentence each. `set` are the options that a flag or the file gave. */
export function checkOptions(values: OptionValues, set: ReadonlySet<OptionName>): readonly string[] {
  const problems: string[] = [];
  const show = (name: (typeof tickers)[number] | 'runtimeRequestTimeoutMs') => optionsTable[name].kind.show(values[name]);

  // A ticker of zero or less has no meaning: the kubelet takes these and then panics or spins.
  for (const name of tickers) {
    if (values[name] <= 0) problems.push(`invalid configuration: ${named(name)} ${show(name)} must be more than 0`);
  }
  if (values.runtimeRequestTimeoutMs < 0) {
    problems.push(`invalid configuration: ${named('runtimeRequestTimeoutMs')} ${show('runtimeRequestTimeoutMs')} must not be negative`);
  }
  // Words as in pkg/kubelet/apis/config/validation/validation.go.
  for (const name of countersFromZero) {
    if (values[name] < 0) problems.push(`invalid configuration: ${named(name)} ${values[name]} must not be a negative number`);
  }
  if (values.nodeStatusMaxImages < -1) problems.push(`invalid configuration: ${named('nodeStatusMaxImages')} must be -1 or greater`);
  if (values.nodeLeaseDurationSeconds <= 0) problems.push('invalid configuration: nodeLeaseDurationSeconds must be greater than 0');
  problems.push(...admissionProblems(values));
  problems.push(...nodeLabelProblems(values.nodeLabels));
  problems.push(...serverProblems(values));
  if (values.maxParallelImagePulls !== undefined) {
    if (values.maxParallelImagePulls < 1) {
      problems.push(`invalid configuration: ${named('maxParallelImagePulls')} ${values.maxParallelImagePulls} must be a positive number`);
    } else if (values.maxParallelImagePulls > 1 && values.serializeImagePulls && set.has('serializeImagePulls')) {
      problems.push(
        `invalid configuration: ${named('maxParallelImagePulls')} cannot be larger than 1 unless ${named('serializeImagePulls')} is set to false`,
      );
    }
  }
  if (values.manifestUrl !== '' && !isHttpUrl(values.manifestUrl)) {
    problems.push(`invalid configuration: ${named('manifestUrl')} must be an http or https URL`);
  }
  if (values.rootDir === '') problems.push(`invalid configuration: ${named('rootDir')} must not be empty`);
  return problems;
}

function admissionProblems(values: OptionValues): readonly string[] {
  const problems: string[] = [];
  for (const pattern of values.allowedUnsafeSysctls) {
    const fault = sysctlPatternFault(pattern);
    if (fault !== undefined) problems.push(`invalid configuration: ${named('allowedUnsafeSysctls')}: ${fault}`);
  }
  const known: readonly string[] = podSources;
  for (const name of ['hostNetworkSources', 'hostPidSources', 'hostIpcSources'] as const) {
    for (const source of values[name]) {
      if (!known.includes(source)) problems.push(`invalid configuration: ${named(name)}: unknown pod source ${JSON.stringify(source)}`);
    }
  }
  if (values.cpuCfsQuotaPeriodMs < 1 || values.cpuCfsQuotaPeriodMs > 1000) {
    const shown = optionsTable.cpuCfsQuotaPeriodMs.kind.show(values.cpuCfsQuotaPeriodMs);
    problems.push(`invalid configuration: ${named('cpuCfsQuotaPeriodMs')} ${shown} must be between 1ms and 1sec, inclusive`);
  }
  return problems;
}

function serverProblems(values: OptionValues): readonly string[] {
  const problems: string[] = [];
  for (const [name, least] of [['port', 1] as const, ['readOnlyPort', 0] as const, ['healthzPort', 0] as const]) {
    const port = values[name];
    // The kubelet's words for healthzPort, which may be 0, say 1.
    const from = name === 'healthzPort' ? 1 : least;
    if (port < least || port > 65_535) {
      problems.push(`invalid configuration: ${named(name)} ${port} must be between ${from} and 65535, inclusive`);
    }
  }
  if ((values.tlsCertFile === '') !== (values.tlsPrivateKeyFile === '')) {
    problems.push(`invalid configuration: ${named('tlsCertFile')} and ${named('tlsPrivateKeyFile')} belong together`);
  }
  if (values.tlsCipherSuites.length > 0 && values.tlsCipherSuites.every((name) => tlsCipherSuites[name] === undefined)) {
    problems.push(`invalid configuration: ${named('tlsCipherSuites')} names only suites that are too weak to be spoken`);
  }
  return problems;
}

/** cmd/kubelet/app/options ValidateKubeletFlags; and what the API server would refuse in a Node. */
function nodeLabelProblems(labels: OptionValues['nodeLabels']): readonly string[] {
  const forbidden = Object.keys(labels).filter(isForbiddenNodeLabel).toSorted();
  const problems =
    forbidden.length === 0
      ? []
      : [
          `unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [${forbidden.join(' ')}]`,
          `--node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix (${kubeletLabelNamespaces.join(', ')}) or be in the specifically allowed set (${kubeletLabels.join(', ')})`,
        ];
  for (const [key, value] of Object.entries(labels)) {
    for (const fault of isQualifiedName(key)) problems.push(`--node-labels: label name "${key}": ${fault}`);
    for (const fault of isLabelValue(value)) problems.push(`--node-labels: value "${value}" of ${key}: ${fault}`);
  }
  return problems;
}

function isHttpUrl(text: string): boolean {
  const protocol = URL.parse(text)?.protocol;
  return protocol === 'http:' || protocol === 'https:';
}
