import { gatesIn, withDefaultEvictions, withDefaults } from '../../../src/options/decoding/default-settings.ts';
import { mergeDropIns } from '../../../src/options/decoding/merge-drop-ins.ts';
import { readConfigText } from '../../../src/options/decoding/read-config-text.ts';
import { resolvePaths } from '../../../src/options/decoding/resolve-paths.ts';
import { writtenConfig } from '../../../src/options/decoding/written-config.ts';
import { featureGates } from '../../../src/options/feature-gates/feature-gates.ts';
import { kubeletConfigurationFaults, type ProgramFacts } from '../../../src/options/validation/kubelet-configuration-faults.ts';

export interface Input {
  readonly text: string;
  readonly dropins?: Readonly<Record<string, string>>;
  readonly wantConfig?: boolean;
}

/** The file lay in a directory of /tmp when the cases were made: its name was replaced afterwards, not what a path with ".." made of it. */
const madeIn = '/tmp/made';
const shownIn = '/var/lib/kubelet';
const dropInsIn = '/etc/kubelet.conf.d';
export async function loaded({ text, dropins, wantConfig }: Input, program: ProgramFacts): Promise<unknown> {
  const file = await readConfigText(text, `${madeIn}/config.yaml`);
  if (file.problems.length > 0) return { decodeError: true };
  const own = resolvePaths(file.settings, `${madeIn}/config.yaml`);
  const gates = featureGates(gatesIn(own));
  if (gates.faults.length > 0) return { panic: true };
  const strict = file.warnings.length === 0;
  let settings = withDefaultEvictions(withDefaults(own, gates));
  // The names of a walk: those in a directory come where the directory does.
  const names = Object.keys(dropins ?? {}).toSorted((a, b) => (a.replaceAll('/', '\0') < b.replaceAll('/', '\0') ? -1 : 1));
  if (dropins !== undefined) {
    const reads = await Promise.all(
      names.filter((name) => name.endsWith('.conf')).map((name) => readConfigText(dropins[name] ?? '', name, 'drop-in')),
    );
    if (reads.some(({ problems }) => problems.length > 0)) return { strict, mergeError: true };
    settings = await mergeDropIns(settings, reads, {});
    if (featureGates(gatesIn(settings)).faults.length > 0) return { panic: true };
  }
  const skipped = dropins && names.filter((name) => !name.endsWith('.conf')).map((name) => `${dropInsIn}/${name}`);
  const errors = kubeletConfigurationFaults(settings, gatesIn(settings), program).toSorted();
  return { strict, errors, skipped, config: wantConfig ? JSON.parse(shown(writtenConfig(settings))) : undefined };
}

const shown = (config: unknown): string => JSON.stringify(config).replaceAll(`${madeIn}/`, `${shownIn}/`);

/** Messages of what does not load are for information. */
export function same(actual: unknown, expected: Readonly<Record<string, unknown>>): boolean {
  const { message: _, ...rest } = expected;
  return JSON.stringify(inOrder(actual)) === JSON.stringify(inOrder(rest));
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined && each !== null);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, inOrder(each)]));
}
