import { resolve } from 'node:path';
import { checkOptions } from './check-options.ts';
import { resourceManagerProblems } from './check-resource-managers.ts';
import { gatesIn } from './decoding/default-settings.ts';
import { featureGates } from './feature-gates/feature-gates.ts';
import type { KubeletOptions, OptionOrigin, OptionOrigins } from './kubelet-options.ts';
import type { LoadedConfig } from './load-config.ts';
import { namedEngineProblems, namedEngineWarnings } from './named-engine.ts';
import { nodeNameFaults, nodeNameOf } from './node-name.ts';
import type { OptionWarning } from './option.ts';
import { optionWarnings } from './option-warnings.ts';
import { OptionsError } from './options-error.ts';
import { type OptionsOfSettings, optionsOfSettings, withFlags } from './options-of-settings.ts';
import { allOptions, optionsTable, type OptionName, type OptionValues } from './options-table.ts';
import { parseFlags } from './parse-flags.ts';
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
}

/** Flags over file over defaults. Rejects with OptionsError. With --help or --version nothing else is read or checked. */
export async function loadOptions(argv: readonly string[], environment: OptionsEnvironment): Promise<LoadedOptions> {
  const flags = parseFlags(argv);
  const gates = gatesIn(withFlags(new Map(), flags));
  const wrongGates = featureGates(gates).faults.map((fault) => `flag --feature-gates: ${fault}`);
  if (flags.problems.length + wrongGates.length > 0) throw new OptionsError([...flags.problems, ...wrongGates]);
  const asksOnly = flags.values.help === true || flags.values.version === true;
  const config = await readConfigFiles(asksOnly ? {} : flags.values, environment, gates);
  if (config.problems.length > 0) throw new OptionsError(config.problems);
  const file = await optionsOf(config);

  const given: Partial<OptionValues> = { ...file.values, ...flags.values };
  const origins = mapOptions((name): OptionOrigin => (name in flags.values ? 'flag' : name in file.values ? 'file' : 'default'));
  const set = new Set(allOptions.map(([name]) => name).filter((name) => name in given));
  const values = complete({ ...defaults(), ...file.values, ...reportFrequencyOf(file.values), ...flags.values }, set);
  const nodeName = nodeNameOf(values.hostnameOverride, environment.hostname);
  const { serializeImagePulls } = values;
  const settings = withFlags(config.settings, { ...flags, values: { ...flags.values, serializeImagePulls } });
  const givenGates = { ...gatesIn(config.settings), ...gates };
  const problems = asksOnly
    ? []
    : [
        ...namedEngineProblems(values),
        ...kubeletConfigurationFaults(settings, givenGates),
        ...checkOptions(values),
        ...resourceManagerProblems(values, featureGates(givenGates)),
        ...(nodeName === undefined ? ['empty hostname is invalid'] : nodeNameFaults(nodeName)),
      ];
  if (problems.length > 0) throw new OptionsError(problems);

  const { hostnameOverride: _, ...rest } = values;
  const options = {
    ...rest,
    nodeName: nodeName ?? '',
    featureGates: givenGates,
    logFormat: values.logFormat ?? (environment.terminal ? 'text' : 'json'),
  };
  const passedOver = namedEngineWarnings(values, (name) => origins[name]);
  return { options, origins, warnings: [...config.warnings, ...passedOver, ...optionWarnings(flags, file, origins, values)] };
}

async function optionsOf({ settings, given }: LoadedConfig): Promise<OptionsOfSettings> {
  // Loaded here, so that a start without a file does not pay for it.
  return given.size === 0 ? { values: {}, withoutEffect: new Map() } : optionsOfSettings(await import('./zod-parts.ts'), settings, given);
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
