import { checkOptions } from './check-options.ts';
import { resourceManagerProblems } from './check-resource-managers.ts';
import { featureGates, possibleGates } from './feature-gates/feature-gates.ts';
import { withFormerConfigFlag } from './former-config-flag.ts';
import type { FileFault } from './file-fault.ts';
import { inFileOrder } from './in-file-order.ts';
import type { KubeletOptions, OptionOrigins } from './kubelet-options.ts';
import type { FieldPlace, LoadedConfig } from './load-config.ts';
import { locateProblems } from './locate-problems.ts';
import { namedEngineProblems, namedEngineWarnings } from './named-engine.ts';
import { nodeNameFaults, nodeNameOf } from './node-name.ts';
import { fieldOf, flagsOf, type Option, type OptionWarning } from './option.ts';
import { optionWarnings, type PlaceOf, refusedOptions } from './option-warnings.ts';
import { OptionsError } from './options-error.ts';
import { withFlags } from './options-of-settings.ts';
import { allOptions, type OptionName, optionsTable } from './options-table.ts';
import { type ParsedFlags, parseFlags } from './parse-flags.ts';
import type { ConfigFiles } from './read-config-files.ts';
import { type ReadOptions, readOptions } from './read-options.ts';
import { kubeletConfigurationFaults } from './validation/kubelet-configuration-faults.ts';

export { OptionsError } from './options-error.ts';

/** What the surroundings contribute. */
export interface OptionsEnvironment extends ConfigFiles {
  readonly hostname: string;
  /** Whether the log goes to a terminal. */
  readonly terminal: boolean;
  /** What of the files that options name stops a start; absent: they are not looked at, as they may be those of another machine. */
  fileFaults?(options: KubeletOptions): Promise<readonly FileFault[]>;
}

export interface LoadedOptions {
  readonly options: KubeletOptions;
  readonly origins: OptionOrigins;
  readonly warnings: readonly OptionWarning[];
  /** Where a field's value comes from; undefined: from a flag, or no file has it. */
  placeOf(field: string): FieldPlace | undefined;
}

/**
 * All options as flags, files and defaults have them, checked. Rejects with OptionsError, which says all that is wrong with all of them. With
 * --help or --version nothing else is read or checked.
 */
export async function loadOptions(argv: readonly string[], environment: OptionsEnvironment): Promise<LoadedOptions> {
  const parsed = parseFlags(argv);
  const asksOnly = parsed.values.help === true || parsed.values.version === true;
  const { flags, warnings: ofManifests } = asksOnly ? { flags: parsed, warnings: [] } : await withFormerConfigFlag(parsed, environment);
  const read = await readOptions(flags, environment, asksOnly ? 'flags alone' : 'with files');
  const { config, file, values, origins } = read;
  const nodeName = nodeNameOf(values.hostnameOverride, environment.hostname);
  const placeOf = (field: string): FieldPlace | undefined => (isSetByFlag(field, flags) ? undefined : config.placeOf(field));
  const at: PlaceOf = (field) => placeOf(field)?.at;
  const ofValues = asksOnly ? [] : locateProblems(valueProblems(read, nodeName), config.given, unread(flags, config), at);
  const { hostnameOverride: _, ...rest } = values;
  const options = { ...rest, nodeName: nodeName ?? '', logFormat: values.logFormat ?? (environment.terminal ? 'text' : 'json') };
  const ofNamed = asksOnly ? [] : ((await environment.fileFaults?.(options)) ?? []);
  const said = (faults: readonly FileFault[]) => faults.map(({ option, fault }) => `${setBy(option, at)}: ${fault}`);
  const ofGiven = said(ofNamed.filter(({ option }) => origins[option] !== 'default'));
  const ofFiles = [...read.problems, ...refusedOptions(flags, file, at), ...ofGiven, ...ofValues];
  const ofGivenOptions = [...flags.problems, ...inFileOrder(ofFiles, config.files)];
  // Who mistypes a command asks for no agent, and hears nothing of what is there by default.
  const problems = ofGivenOptions.length > 0 ? ofGivenOptions : said(ofNamed);
  if (problems.length > 0) throw new OptionsError(problems, config.warnings);

  const warnings = [
    ...config.warnings,
    ...ofManifests,
    ...namedEngineWarnings(values, (name) => origins[name]),
    ...optionWarnings(flags, file, { origins, values, placeOf: at }),
  ];
  return { options, origins, warnings, placeOf };
}

/** cmd/kubelet/app/options ValidateKubeletFlags. */
const GATE_IS_OFF = 'the DynamicKubeletConfig feature gate must be enabled in order to use the --dynamic-config-dir flag';

/** What is wrong with values that could be read. */
function valueProblems({ flags, config, values }: ReadOptions, nodeName: string | undefined): readonly string[] {
  const { serializeImagePulls, featureGates: given, dynamicConfigDir } = values;
  const settings = withFlags(config.settings, { ...flags, values: { ...flags.values, serializeImagePulls } });
  const gates = possibleGates(given);
  return [
    ...namedEngineProblems(values),
    ...(dynamicConfigDir !== '' && !featureGates(gates).isOn('DynamicKubeletConfig') ? [GATE_IS_OFF] : []),
    ...kubeletConfigurationFaults(settings, gates),
    ...checkOptions(values),
    ...resourceManagerProblems(values, featureGates(gates)),
    ...(nodeName === undefined ? ['empty hostname is invalid'] : nodeNameFaults(nodeName)),
  ];
}

/** "file:line:column field", or the flag, also of a default. */
function setBy(name: OptionName, at: PlaceOf): string {
  const option: Option<unknown> = optionsTable[name];
  const field = fieldOf(option);
  const place = field === undefined ? undefined : at(field);
  return place === undefined ? `flag --${flagsOf(option)[0]}` : `${place} ${field}`;
}

/** Names of options whose value is not known, as sentences have them. */
const unread = ({ faulty }: ParsedFlags, config: LoadedConfig): readonly string[] => [
  // Of a gate a sentence has the name alone.
  ...[...config.faulty].map((field) => field.replace(/^featureGates\./, '')),
  ...[...faulty].flatMap(({ flag, config: field }) => [
    ...(flag === undefined ? [] : [`--${flag}`]),
    ...(field === undefined ? [] : [field]),
  ]),
];

const isSetByFlag = (field: string, { values, idle }: ParsedFlags): boolean =>
  allOptions.some(([name, declared]) => fieldOf(declared) === field && name in values) ||
  [...idle.keys()].some(({ config }) => config === field);
