import { resolve } from 'node:path';
import { checkOptions } from './check-options.ts';
import { resourceManagerProblems } from './check-resource-managers.ts';
import { gatesIn } from './decoding/default-settings.ts';
import { featureGates, possibleGates } from './feature-gates/feature-gates.ts';
import { withFormerConfigFlag } from './former-config-flag.ts';
import type { KubeletOptions, OptionOrigin, OptionOrigins } from './kubelet-options.ts';
import type { FieldPlace, LoadedConfig } from './load-config.ts';
import { locateProblems } from './locate-problems.ts';
import { namedEngineProblems, namedEngineWarnings } from './named-engine.ts';
import { nodeNameFaults, nodeNameOf } from './node-name.ts';
import { fieldOf, type OptionWarning } from './option.ts';
import { optionWarnings, type PlaceOf, refusedOptions } from './option-warnings.ts';
import { OptionsError } from './options-error.ts';
import { type OptionsOfSettings, optionsOfSettings, withFlags } from './options-of-settings.ts';
import { allOptions, optionsTable, type OptionName, type OptionValues } from './options-table.ts';
import { type ParsedFlags, parseFlags } from './parse-flags.ts';
import { type ConfigFiles, readConfigFiles } from './read-config-files.ts';
import { kubeletConfigurationFaults } from './validation/kubelet-configuration-faults.ts';

export { OptionsError } from './options-error.ts';

/** What the surroundings contribute. */
export interface OptionsEnvironment extends ConfigFiles {
  readonly hostname: string;
  /** Whether the log goes to a terminal. */
  readonly terminal: boolean;
}

export interface LoadedOptions {
  readonly options: KubeletOptions;
  readonly origins: OptionOrigins;
  readonly warnings: readonly OptionWarning[];
  /** Where a field's value comes from; undefined: from a flag, or no file has it. */
  placeOf(field: string): FieldPlace | undefined;
}

/**
 * Flags over drop-in files over the file over defaults. Rejects with OptionsError, which says all that is wrong with all of them. With --help or
 * --version nothing else is read or checked.
 */
export async function loadOptions(argv: readonly string[], environment: OptionsEnvironment): Promise<LoadedOptions> {
  const parsed = parseFlags(argv);
  const asksOnly = parsed.values.help === true || parsed.values.version === true;
  const { flags, warnings: ofManifests } = asksOnly ? { flags: parsed, warnings: [] } : await withFormerConfigFlag(parsed, environment);
  const gatesOfFlags = flags.values.featureGates ?? {};
  const wrongGates = featureGates(gatesOfFlags).faults.map((fault) => `flag --feature-gates: ${fault}`);
  const config = await readConfigFiles(asksOnly ? {} : flags.values, environment, possibleGates(gatesOfFlags));
  const file = await optionsOf(config);

  const given: Partial<OptionValues> = { ...file.values, ...flags.values };
  const origins = mapOptions((name): OptionOrigin => (name in flags.values ? 'flag' : name in file.values ? 'file' : 'default'));
  const set = new Set(allOptions.map(([name]) => name).filter((name) => name in given));
  const gates = { ...gatesIn(config.settings), ...gatesOfFlags };
  const values = {
    ...complete({ ...defaults(), ...file.values, ...reportFrequencyOf(file.values), ...flags.values }, set),
    featureGates: gates,
  };
  const nodeName = nodeNameOf(values.hostnameOverride, environment.hostname);
  const placeOf = (field: string): FieldPlace | undefined => (isSetByFlag(field, flags) ? undefined : config.placeOf(field));
  const at: PlaceOf = (field) => placeOf(field)?.at;
  const problems = [
    ...flags.problems,
    ...wrongGates,
    ...config.problems,
    ...refusedOptions(flags, file, at),
    ...(asksOnly ? [] : locateProblems(valueProblems({ flags, config, values, nodeName }), config.given, unread(flags, config), at)),
  ];
  if (problems.length > 0) throw new OptionsError(problems, config.warnings);

  const { hostnameOverride: _, ...rest } = values;
  const options = { ...rest, nodeName: nodeName ?? '', logFormat: values.logFormat ?? (environment.terminal ? 'text' : 'json') };
  const warnings = [
    ...config.warnings,
    ...ofManifests,
    ...namedEngineWarnings(values, (name) => origins[name]),
    ...optionWarnings(flags, file, { origins, values, placeOf: at }),
  ];
  return { options, origins, warnings, placeOf };
}

/** What is wrong with values that could be read. */
function valueProblems({ flags, config, values, nodeName }: ReadValues): readonly string[] {
  const { serializeImagePulls, featureGates: given } = values;
  const settings = withFlags(config.settings, { ...flags, values: { ...flags.values, serializeImagePulls } });
  const gates = possibleGates(given);
  return [
    ...namedEngineProblems(values),
    ...kubeletConfigurationFaults(settings, gates),
    ...checkOptions(values),
    ...resourceManagerProblems(values, featureGates(gates)),
    ...(nodeName === undefined ? ['empty hostname is invalid'] : nodeNameFaults(nodeName)),
  ];
}

interface ReadValues {
  readonly flags: ParsedFlags;
  readonly config: LoadedConfig;
  readonly values: OptionValues;
  readonly nodeName: string | undefined;
}

/** Names of options whose value is not known, as sentences have them. */
const unread = ({ faulty }: ParsedFlags, config: LoadedConfig): readonly string[] => [
  ...config.faulty,
  ...[...faulty].flatMap(({ flag, config: field }) => [
    ...(flag === undefined ? [] : [`--${flag}`]),
    ...(field === undefined ? [] : [field]),
  ]),
];

const isSetByFlag = (field: string, { values, idle }: ParsedFlags): boolean =>
  allOptions.some(([name, declared]) => fieldOf(declared) === field && name in values) ||
  [...idle.keys()].some(({ config }) => config === field);

async function optionsOf({ settings, given }: LoadedConfig): Promise<OptionsOfSettings> {
  // Loaded here, so that a start without a file does not pay for it.
  return given.size === 0 ? { values: {}, idle: new Map() } : optionsOfSettings(await import('./zod-parts.ts'), settings, given);
}

/** v1beta1 defaulting: a config file that says how often the node's status is computed, and no more, means its reports, too. */
function reportFrequencyOf({ nodeStatusUpdateFrequencyMs, nodeStatusReportFrequencyMs }: Partial<OptionValues>): Partial<OptionValues> {
  if (nodeStatusUpdateFrequencyMs === undefined || nodeStatusReportFrequencyMs !== undefined) return {};
  return { nodeStatusReportFrequencyMs: nodeStatusUpdateFrequencyMs };
}

/** Settings whose default depends on others, or whose value has another meaning than its letters. */
function complete(values: OptionValues, set: ReadonlySet<OptionName>): OptionValues {
  return {
    ...values,
    // v1beta1 defaulting since 1.31: asking for parallel pulls is enough.
    serializeImagePulls: set.has('serializeImagePulls') ? values.serializeImagePulls : (values.maxParallelImagePulls ?? 1) < 2,
    // dockershim takes a timeout of 0 as its own default (pkg/kubelet/dockershim/libdocker/kube_docker_client.go).
    runtimeRequestTimeoutMs:
      values.runtimeRequestTimeoutMs === 0 ? optionsTable.runtimeRequestTimeoutMs.default : values.runtimeRequestTimeoutMs,
    // The engine wants absolute paths for mounts.
    rootDir: values.rootDir === '' ? '' : resolve(values.rootDir),
    certDir: values.certDir === '' ? '' : resolve(values.certDir),
  };
}

const defaults = (): OptionValues => mapOptions((name) => optionsTable[name].default) as OptionValues;

function mapOptions<T>(of: (name: OptionName) => T): Readonly<Record<OptionName, T>> {
  return Object.fromEntries(allOptions.map(([name]) => [name, of(name)])) as Record<OptionName, T>;
}
