import { errorText } from '../base/error-text.ts';
import { podSources } from '../model/host-privileges.ts';
import { isForbiddenNodeLabel, kubeletLabelNamespaces, kubeletLabels } from '../model/kubelet-labels.ts';
import { parseLogPolicy } from '../model/log-policy.ts';
import { sysctlPatternFault } from '../model/sysctls.ts';
import { tlsCipherSuites } from '../model/tls-settings.ts';
import { isLabelValue, isQualifiedName } from '../model/validation/formats.ts';
import { evictionProblems } from './check-eviction.ts';
import { reservationProblems } from './reserved-resources.ts';
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

/** What this agent wants of values beyond what a kubelet does, one sentence each. */
export function checkOptions(values: OptionValues): readonly string[] {
  const problems: string[] = [];
  const show = (name: (typeof tickers)[number] | 'runtimeRequestTimeoutMs') => optionsTable[name].kind.show(values[name]);

  // A ticker of zero or less has no meaning: the kubelet takes these and then panics or spins.
  for (const name of tickers) {
    if (values[name] <= 0) problems.push(`invalid configuration: ${named(name)} ${show(name)} must be more than 0`);
  }
  if (values.runtimeRequestTimeoutMs < 0) {
    problems.push(`invalid configuration: ${named('runtimeRequestTimeoutMs')} ${show('runtimeRequestTimeoutMs')} must not be negative`);
  }
  problems.push(...admissionProblems(values));
  problems.push(...evictionProblems(values));
  if (values.evictionPressureTransitionPeriodMs < 0) {
    const period = optionsTable.evictionPressureTransitionPeriodMs.kind.show(values.evictionPressureTransitionPeriodMs);
    problems.push(`invalid configuration: ${named('evictionPressureTransitionPeriodMs')} ${period} must not be negative`);
  }
  problems.push(...cgroupProblems(values));
  problems.push(...logProblems(values));
  problems.push(...nodeLabelProblems(values.nodeLabels));
  problems.push(...serverProblems(values));
  // cmd/kubelet/app/server.go run
  if (values.exitOnLockContention && values.lockFile === '') problems.push('cannot exit on lock file contention: no lock file specified');
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
  return problems;
}

function cgroupProblems(values: OptionValues): readonly string[] {
  const problems = [...reservationProblems(values)];
  if (values.cgroupDriver !== 'cgroupfs' && values.cgroupDriver !== 'systemd')
    problems.push(`invalid configuration: ${named('cgroupDriver')} ${JSON.stringify(values.cgroupDriver)} must be cgroupfs or systemd`);
  return problems;
}

/** Without these a kubelet does not start; the number of files has been checked before. */
function logProblems({ containerLogMaxSize, containerLogMaxFiles }: OptionValues): readonly string[] {
  try {
    parseLogPolicy(containerLogMaxSize, Math.max(2, containerLogMaxFiles));
    return [];
  } catch (error) {
    return [`invalid configuration: ${named('containerLogMaxSize')}: ${errorText(error)}`];
  }
}

function serverProblems(values: OptionValues): readonly string[] {
  const problems: string[] = [];
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
