import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { acceptedFaults } from './accepted-faults.ts';
import { checkOptions } from './check-options.ts';
import { parseConfigFile, type ParsedConfigFile } from './config-file.ts';
import type { KubeletOptions, OptionOrigin, OptionOrigins } from './kubelet-options.ts';
import { nodeNameFaults, nodeNameOf } from './node-name.ts';
import type { AcceptedOption, OptionWarning } from './option.ts';
import { allOptions, optionsTable, type OptionName, type OptionValues } from './options-table.ts';
import { parseFlags } from './parse-flags.ts';

/** What the surroundings contribute. */
export interface OptionsEnvironment {
  readonly hostname: string;
  /** Whether the log goes to a terminal. */
  readonly terminal: boolean;
  readFile(path: string): Promise<string>;
}

export interface LoadedOptions {
  readonly options: KubeletOptions;
  readonly origins: OptionOrigins;
  readonly warnings: readonly OptionWarning[];
}

/** The command line or the config file is wrong: everything that is, a line each. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const nothingInFile: ParsedConfigFile = { values: {}, withoutEffect: new Map(), warnings: [], problems: [] };

/** Flags over file over defaults. Rejects with OptionsError. With --help or --version nothing else is read or checked. */
export async function loadOptions(argv: readonly string[], environment: OptionsEnvironment): Promise<LoadedOptions> {
  const flags = parseFlags(argv);
  if (flags.problems.length > 0) throw new OptionsError(flags.problems);
  const asksOnly = flags.values.help === true || flags.values.version === true;
  const configFile = flags.values.configFile ?? '';
  const file = configFile === '' || asksOnly ? nothingInFile : await readConfigFile(configFile, environment);
  if (file.problems.length > 0) throw new OptionsError(file.problems);

  const given: Partial<OptionValues> = { ...file.values, ...flags.values };
  const origins = mapOptions((name): OptionOrigin => (name in flags.values ? 'flag' : name in file.values ? 'file' : 'default'));
  const set = new Set(allOptions.map(([name]) => name).filter((name) => name in given));
  const values = complete({ ...defaults(), ...file.values, ...reportFrequencyOf(file.values), ...flags.values }, set);
  const nodeName = nodeNameOf(values.hostnameOverride, environment.hostname);
  const problems = asksOnly
    ? []
    : [
        ...checkOptions(values, set),
        ...acceptedFaults(new Map([...file.withoutEffect, ...flags.withoutEffect])),
        ...(nodeName === undefined ? ['empty hostname is invalid'] : nodeNameFaults(nodeName)),
      ];
  if (problems.length > 0) throw new OptionsError(problems);

  const { hostnameOverride: _, ...rest } = values;
  const options = { ...rest, nodeName: nodeName ?? '', logFormat: values.logFormat ?? (environment.terminal ? 'text' : 'json') };
  return { options, origins, warnings: warningsFor(flags, file, origins, values) };
}

async function readConfigFile(path: string, environment: OptionsEnvironment): Promise<ParsedConfigFile> {
  let text: string;
  try {
    text = await environment.readFile(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ...nothingInFile, problems: [`flag --config: cannot read ${path}: ${why}`] };
  }
  return parseConfigFile(text, path);
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

function warningsFor(
  flags: ReturnType<typeof parseFlags>,
  file: ParsedConfigFile,
  origins: OptionOrigins,
  values: OptionValues,
): readonly OptionWarning[] {
  const warnings: OptionWarning[] = [
    ...file.warnings,
    ...[...flags.withoutEffect.keys()].map(({ flag }) => ({ message: 'flag has no effect yet', option: `--${flag}` })),
    ...[...file.withoutEffect].flatMap(([option, value]) => {
      const { config = '' } = option;
      return saysNothing(option, value) ? [] : [{ message: 'config field has no effect yet', option: config }];
    }),
  ];
  for (const [name, { flag, config, deprecated }] of allOptions) {
    if (deprecated !== undefined && origins[name] !== 'default')
      warnings.push({ message: `option is deprecated: ${deprecated}`, option: flag === undefined ? (config ?? '') : `--${flag}` });
  }
  if (values.registryQps > 0 && values.registryBurst === 0) {
    warnings.push({ message: 'a burst of 0 lets no image pull start', option: '--registry-burst' });
  }
  return warnings;
}

/** A zero stands for "not set"; so may what a kubelet takes where the field is not set. */
function saysNothing({ unset }: AcceptedOption, value: unknown): boolean {
  if (value === 0 || value === '' || isDeepStrictEqual(value, unset)) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

const defaults = (): OptionValues => mapOptions((name) => optionsTable[name].default) as OptionValues;

function mapOptions<T>(of: (name: OptionName) => T): Readonly<Record<OptionName, T>> {
  return Object.fromEntries(allOptions.map(([name]) => [name, of(name)])) as Record<OptionName, T>;
}
