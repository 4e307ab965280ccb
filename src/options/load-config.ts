import { isJsonObject } from '../base/json-object.ts';
import { mergeDropIns } from './decoding/merge-drop-ins.ts';
import { gatesIn, withDefaultEvictions, withDefaults } from './decoding/default-settings.ts';
import { configReader, type ReadConfig } from './decoding/read-config-text.ts';
import { resolvePaths } from './decoding/resolve-paths.ts';
import type { Settings } from './decoding/settings.ts';
import { featureGates, gateFaults, type GivenGates } from './feature-gates/feature-gates.ts';
import type { OptionWarning } from './option.ts';

/** A file and what is in it. */
export interface ConfigText {
  readonly path: string;
  readonly text: string;
}

/** Where a field is set: "file:line:column" of its value, and in which kind of file. */
export interface FieldPlace {
  readonly at: string;
  readonly role: 'file' | 'drop-in';
}

export interface LoadedConfig {
  /** Every field that is set, by a file or by Kubernetes' defaulting; without those that have a problem. */
  readonly settings: Settings;
  /** Fields that a file sets. */
  readonly given: ReadonlySet<string>;
  readonly warnings: readonly OptionWarning[];
  /** "file:line:column field: …"; the rest is what else the files say. */
  readonly problems: readonly string[];
  /** Fields that a problem is about, and gates as "featureGates.NAME". */
  readonly faulty: ReadonlySet<string>;
  /** The paths of the files, in the order in which they count. */
  readonly files: readonly string[];
  /** Of the file whose word counts; undefined: none sets the field. */
  placeOf(field: string): FieldPlace | undefined;
}

/**
 * The configuration that `file`, with drop-in files merged over it in their order, comes to (cmd/kubelet/app loadConfigFile and
 * mergeKubeletConfigurations). Without a file it is that of nothing. `gates` are those of the command line.
 */
export async function loadConfig(file: ConfigText | undefined, dropIns: readonly ConfigText[], gates: GivenGates): Promise<LoadedConfig> {
  const read = file || dropIns.length > 0 ? await configReader() : undefined;
  const main = file && read?.(file.text, file.path, 'config');
  const merged = dropIns.flatMap(({ text, path }) => read?.(text, path, 'drop-in') ?? []);
  const reads = [...(main ? [main] : []), ...merged];
  const faulty = new Set(reads.flatMap((read) => [...read.faulty]));
  const without = (settings: Settings): Settings => new Map([...settings].filter(([field]) => !faulty.has(field)));

  const own = without(file && main ? resolvePaths(main.settings, file.path) : new Map());
  const ownGates = { ...gates, ...gatesIn(own) };
  const base = withDefaultEvictions(withDefaults(own, featureGates(ownGates)));
  const settings = merged.length === 0 ? base : without(await mergeDropIns(base, merged, gates));
  // A gate that cannot be set ends a kubelet while it sets defaults, also one that a drop-in file would correct.
  const wrongGates = [...new Set([ownGates, { ...gates, ...gatesIn(settings) }].flatMap(gateFaults))].filter(
    (fault) => !names(fault).some((name) => faulty.has(`featureGates.${name}`)),
  );
  return {
    files: [...(file ? [file.path] : []), ...dropIns.map(({ path }) => path)],
    settings,
    given: new Set(reads.flatMap((read) => [...read.settings.keys()]).filter((field) => !faulty.has(field))),
    warnings: reads.flatMap((read) => read.warnings),
    problems: [...reads.flatMap((read) => [...read.problems, ...read.refusals]), ...wrongGates.map((fault) => gateProblem(reads, fault))],
    faulty: wrongGates.length > 0 ? new Set([...faulty, 'featureGates']) : faulty,
    placeOf: (field) => {
      const last = reads.findLast(({ settings: set }) => set.has(field));
      return last && { at: last.placeOf(field.split('.')), role: last === main ? 'file' : 'drop-in' };
    },
  };
}

/** The words of a sentence that may be gates: what depends on one that could not be read is not known. */
const names = (sentence: string): readonly string[] => sentence.match(/\b[A-Z]\w*/g) ?? [];

/** The place is that of the gate in the last file that sets it, or of all gates in the last file that sets any. */
function gateProblem(reads: readonly ReadConfig[], fault: string): string {
  const sets = (name: string | undefined) => (read: ReadConfig) => {
    const gates = read.settings.get('featureGates');
    return name === undefined ? gates !== undefined : isJsonObject(gates) && Object.hasOwn(gates, name);
  };
  const named = names(fault).find((name) => reads.some(sets(name)));
  const place = reads.findLast(sets(named))?.placeOf(named === undefined ? ['featureGates'] : ['featureGates', named]);
  return `${place === undefined ? '' : `${place} `}featureGates: ${fault}`;
}
