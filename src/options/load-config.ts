import { mergeDropIns } from './decoding/merge-drop-ins.ts';
import { gatesIn, withDefaultEvictions, withDefaults } from './decoding/default-settings.ts';
import { type ReadConfig, readConfigText } from './decoding/read-config-text.ts';
import { resolvePaths } from './decoding/resolve-paths.ts';
import type { Settings } from './decoding/settings.ts';
import { type FeatureGates, featureGates, type GivenGates } from './feature-gates/feature-gates.ts';
import type { OptionWarning } from './option.ts';

/** A file and what is in it. */
export interface ConfigText {
  readonly path: string;
  readonly text: string;
}

export interface LoadedConfig {
  /** Every field that is set, by a file or by Kubernetes' defaulting. */
  readonly settings: Settings;
  /** Fields that a file sets. */
  readonly given: ReadonlySet<string>;
  readonly warnings: readonly OptionWarning[];
  /** "file:line:column field: …"; the rest is valid only when there is none. */
  readonly problems: readonly string[];
}

/**
 * The configuration that `file`, with drop-in files merged over it in their order, comes to (cmd/kubelet/app loadConfigFile and
 * mergeKubeletConfigurations). Without a file it is that of nothing. `gates` are those of the command line.
 */
export async function loadConfig(file: ConfigText | undefined, dropIns: readonly ConfigText[], gates: GivenGates): Promise<LoadedConfig> {
  const main = file && (await readConfigText(file.text, file.path));
  const merged: ReadConfig[] = [];
  for (const { text, path } of dropIns) merged.push(await readConfigText(text, path, 'drop-in'));
  const reads = [...(main ? [main] : []), ...merged];
  const warnings = reads.flatMap((read) => read.warnings);
  const given = new Set(reads.flatMap((read) => [...read.settings.keys()]));
  const failed = (...problems: readonly string[]): LoadedConfig => ({ settings: new Map(), given, warnings, problems });
  const problems = reads.flatMap((read) => [...read.problems, ...read.refusals]);
  if (problems.length > 0) return failed(...problems);

  const own = file && main ? resolvePaths(main.settings, file.path) : new Map<string, unknown>();
  const ownGates = featureGates({ ...gates, ...gatesIn(own) });
  if (ownGates.faults.length > 0) return failed(...gateProblems(reads.slice(0, 1), ownGates));
  const base = withDefaultEvictions(withDefaults(own, ownGates));
  if (merged.length === 0) return { settings: base, given, warnings, problems };
  const settings = await mergeDropIns(base, merged, gates);
  const allGates = featureGates({ ...gates, ...gatesIn(settings) });
  return allGates.faults.length > 0 ? failed(...gateProblems(reads, allGates)) : { settings, given, warnings, problems };
}

/** A gate that cannot be set ends a kubelet while it sets defaults: the place is that of the last file that sets any. */
function gateProblems(reads: readonly ReadConfig[], { faults }: Pick<FeatureGates, 'faults'>): readonly string[] {
  const place = reads.findLast(({ settings }) => settings.has('featureGates'))?.placeOf(['featureGates']);
  return faults.map((fault) => `${place === undefined ? '' : `${place} `}featureGates: ${fault}`);
}
