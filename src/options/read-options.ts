import { resolve } from 'node:path';
import { gatesIn } from './decoding/default-settings.ts';
import { gateFaults, possibleGates } from './feature-gates/feature-gates.ts';
import type { OptionOrigin, OptionOrigins } from './kubelet-options.ts';
import type { LoadedConfig } from './load-config.ts';
import { type OptionsOfSettings, optionsOfSettings } from './options-of-settings.ts';
import { allOptions, type OptionName, optionsTable, type OptionValues } from './options-table.ts';
import type { ParsedFlags } from './parse-flags.ts';
import { type ConfigFiles, readConfigFiles } from './read-config-files.ts';

/** What flags and files come to, before anything is checked together. */
export interface ReadOptions {
  readonly flags: ParsedFlags;
  readonly config: LoadedConfig;
  /** What the files set. */
  readonly file: OptionsOfSettings;
  readonly values: OptionValues;
  readonly origins: OptionOrigins;
  /** What of the files cannot be read, and gates that cannot be set; values are those of the rest. */
  readonly problems: readonly string[];
}

/** Flags over drop-in files over the file over defaults; gates of flags are added to those of files. */
export async function readOptions(flags: ParsedFlags, files: ConfigFiles, from: 'with files' | 'flags alone'): Promise<ReadOptions> {
  const gatesOfFlags = flags.values.featureGates ?? {};
  const wrongGates = gateFaults(gatesOfFlags).map((fault) => `flag --feature-gates: ${fault}`);
  const config = await readConfigFiles(from === 'flags alone' ? {} : flags.values, files, possibleGates(gatesOfFlags));
  const file = await optionsOf(config);
  const given: Partial<OptionValues> = { ...file.values, ...flags.values };
  const set = new Set(allOptions.map(([name]) => name).filter((name) => name in given));
  return {
    flags,
    config,
    file,
    values: {
      ...complete({ ...defaults(), ...file.values, ...reportFrequencyOf(file.values), ...flags.values }, set),
      featureGates: { ...gatesIn(config.settings), ...gatesOfFlags },
    },
    origins: mapOptions((name): OptionOrigin => (name in flags.values ? 'flag' : name in file.values ? 'file' : 'default')),
    problems: [...wrongGates, ...config.problems],
  };
}

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
