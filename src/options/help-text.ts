import { commandTable } from './commands.ts';
import { idleOptions } from './idle-options.ts';
import { flagsOf, type IdleOption, type Option, type OptionGroup, optionGroups } from './option.ts';
import { allOptions, type OptionName } from './options-table.ts';

const INDENT = ' '.repeat(6);
const USAGE_WIDTH = 30;

const usage = [
  'rxlet runs the pods that manifests declare on a container engine, as a kubelet does.',
  '',
  'Usage:',
  `  ${'rxlet [flags]'.padEnd(USAGE_WIDTH)}run the agent`,
  ...commandTable.map((use) => `  ${`rxlet ${use.name} ${use.arguments}`.padEnd(USAGE_WIDTH)}${use.help}`),
  '',
];

/** The flags that most nodes are set up with. */
const common: ReadonlySet<OptionName> = new Set([
  'podManifestPath',
  'manifestUrl',
  'containerRuntimeEndpoint',
  'podInfraContainerImage',
  'hostnameOverride',
  'rootDir',
  'nodeIp',
  'nodeLabels',
  'registerWithTaints',
  'maxPods',
  'kubeReserved',
  'evictionHard',
  'cgroupDriver',
  'networkPlugin',
  'clusterDns',
  'clusterDomain',
  'kubeconfig',
  'bootstrapKubeconfig',
  'certDir',
  'address',
  'port',
  'pageAddress',
  'verbosity',
  'logFormat',
  'configFile',
  'configDirectory',
  'featureGates',
  'help',
  'version',
]);

/** What `--help` prints: the common flags, grouped, a sentence each; no line longer than `columns` where words allow it. */
export function helpText(columns: number): string {
  const lines = [...usage, "Flags are the kubelet's, and these are the most common ones. All: rxlet --help --all"];
  for (const group of optionGroups) {
    const listed = inGroup(group).filter(([name]) => common.has(name));
    lines.push('', `${group}:`, ...listed.flatMap(([, option]) => entry(option, firstSentence(option.help), columns)));
  }
  return `${lines.join('\n')}\n`;
}

/** What `--help --all` prints: every flag, those that decide nothing here by their names. */
export function completeHelpText(columns: number): string {
  const lines = [...usage, "Flags are the kubelet's. A repeated one adds to a list or map; else the last counts."];
  for (const group of optionGroups)
    lines.push('', `${group}:`, ...inGroup(group).flatMap(([, option]) => entry(option, inFull(option), columns)));
  const names = (of: (option: IdleOption) => boolean): readonly string[] =>
    wrap(
      idleOptions
        .filter((option) => option.flag !== undefined && of(option))
        .map(({ flag }) => `--${flag}`)
        .join(' '),
      columns - 2,
    ).map((line) => `  ${line}`);
  lines.push('', 'Without meaning on this node (docs/options.md says why; said once where one is set):');
  lines.push(...names((option) => 'noMeaning' in option));
  lines.push('', 'Refused, as passing them over would be dangerous:', ...names((option) => 'refused' in option));
  return `${lines.join('\n')}\n`;
}

const inGroup = (group: OptionGroup): typeof allOptions =>
  allOptions.filter(([, option]) => option.group === group && option.flag !== undefined);

const firstSentence = (text: string): string => /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;

function inFull(option: Option<unknown>): string {
  const notes = [
    defaultOf(option) === '' ? undefined : `default: ${defaultOf(option)}`,
    option.config === undefined ? undefined : `config file: ${option.config}`,
    option.deprecated === undefined ? undefined : `deprecated: ${option.deprecated}`,
  ].filter((note) => note !== undefined);
  return notes.length === 0 ? option.help : `${option.help} (${notes.join('; ')})`;
}

function entry(option: Option<unknown>, help: string, columns: number): readonly string[] {
  const long = flagsOf(option)
    .filter((flag) => option.formerFlags?.includes(flag) !== true)
    .map((flag) => `--${flag}`)
    .join(', ');
  const short = option.shorthand === undefined ? INDENT : `  -${option.shorthand}, `;
  const type = option.kind.bare === undefined ? ` ${option.kind.name}` : '';
  return [`${short}${long}${type}`, ...wrap(help, columns - INDENT.length - 4).map((line) => `${INDENT}    ${line}`)];
}

/** A bool that is off says nothing about its default. */
export function defaultOf(option: Option<unknown>): string {
  if (option.defaultText !== undefined) return option.defaultText;
  const value = option.default ?? false;
  return value === false ? '' : option.kind.show(value);
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
