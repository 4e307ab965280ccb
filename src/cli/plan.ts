import { printable } from '../base/printable.ts';
import { formatManifestFault } from '../model/manifest-fault.ts';
import { hasChanges, type PlannedChanges, type PlannedObject, type PlannedPod } from '../model/planned-changes.ts';
import type { DeclaredManifests } from '../ports/declared-manifests.ts';
import { UsageError } from './command-io.ts';
import { parseArguments } from './parse-arguments.ts';

/** How manifests are read, and what is made of them. */
export interface PlanTools {
  read(paths: readonly string[]): Promise<DeclaredManifests>;
  plan(before: DeclaredManifests, after: DeclaredManifests): PlannedChanges;
}

interface Io {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

const planUsage = `Usage: rxlet plan PATH... --against=DIR [--output=text|json]

Says what would happen if manifests took the place of others: for each pod what differs, and whether it starts, restarts, goes on with
other resources, is made again or stops. Nothing is changed, and no agent is needed: the pods of DIR are taken to run as they are declared
there. Whether the node has room for a pod is not judged.

A PATH that is a directory takes the place of all of DIR: pods that it lacks stop. A PATH that is a manifest takes the place of the manifest
of its file name, and of the pod or object of its name; all others stay. A manifest with faults takes no pod away.
Values of Secrets, ConfigMaps and environments are not shown.

Exit code: 0 nothing would change, 1 something would, 2 there are faults or something could not be read.
`;

const planFlags = { against: { value: true }, output: { short: 'o', value: true }, help: { short: 'h' } } as const;

/** `rxlet plan`. Resolves with the exit code. */
export async function runPlan(argv: readonly string[], { stdout, stderr }: Io, tools: PlanTools): Promise<number> {
  let asked: { readonly paths: readonly string[]; readonly against: string; readonly json: boolean } | 'help';
  try {
    asked = askedBy(argv);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`${error.message}\n\n${planUsage}`);
    return 2;
  }
  if (asked === 'help') {
    stdout.write(planUsage);
    return 0;
  }
  const [before, after] = [await tools.read([asked.against]), await tools.read(asked.paths)];
  for (const { file, why } of [...before.unreadable, ...after.unreadable])
    stderr.write(`${printable(`${file}: cannot be read: ${why}`)}\n`);
  const planned = tools.plan(before, after);
  const faults = [...before.refused, ...after.refused].flatMap(({ file, faults: all }) => all.map((fault) => ({ file, fault })));
  if (asked.json) {
    const shown = faults.map(({ file, fault: { type, field, detail, line, column } }) => ({ file, type, field, detail, line, column }));
    stdout.write(`${JSON.stringify({ ...planned, faults: shown }, undefined, 2)}\n`);
  } else {
    for (const { file, fault } of faults) stdout.write(`${printable(formatManifestFault(file, fault))}\n`);
    stdout.write(planText(planned));
  }
  if (faults.length > 0 || before.unreadable.length > 0 || after.unreadable.length > 0) return 2;
  return hasChanges(planned) ? 1 : 0;
}

/** Throws UsageError. */
function askedBy(argv: readonly string[]): { paths: readonly string[]; against: string; json: boolean } | 'help' {
  const { flags, words, rest = [] } = parseArguments(argv, planFlags);
  const { against = '', output = 'text', help } = flags;
  if (help === 'true') return 'help';
  if (output !== 'text' && output !== 'json') throw new UsageError(`--output is text or json, not ${JSON.stringify(output)}`);
  const paths = [...words, ...rest];
  if (paths.length === 0) throw new UsageError('which manifest?');
  if (against === '') throw new UsageError('against which manifests? --against=DIR names those that run');
  return { paths, against, json: output === 'json' };
}

function planText({ pods, objects }: PlannedChanges): string {
  const changed = pods.filter((pod) => hasChanges({ pods: [pod], objects: [] }));
  const same = pods.length - changed.length;
  const lines = [
    ...changed.flatMap(podLines),
    ...objects.flatMap(objectLines),
    ...(same > 0 ? [`${same} ${same === 1 ? 'pod stays' : 'pods stay'} as ${same === 1 ? 'it is' : 'they are'}`] : []),
    ...(pods.length + objects.length === 0 ? ['no pods'] : []),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function podLines({ pod, consequence, containers, because, changes, moreChanges }: PlannedPod): readonly string[] {
  return [
    `${pod}: ${consequence}${containers.length > 0 ? ` (${containers.join(', ')})` : ''}`,
    ...because.map((why) => `  ${why}`),
    ...changes.map(({ path, from, to }) =>
      from === undefined && to === undefined ? `    ${path}: changed` : `    ${path}: ${from ?? '(none)'} -> ${to ?? '(none)'}`,
    ),
    ...(moreChanges > 0 ? [`    and ${moreChanges} more`] : []),
  ];
}

function objectLines({ object, consequence, keys, live, atNextStart }: PlannedObject): readonly string[] {
  return [
    `${object}: ${consequence}${keys.length > 0 ? ` (${keys.join(', ')})` : ''}`,
    ...(live.length > 0 ? [`  seen while they run: ${live.join(', ')}`] : []),
    ...(atNextStart.length > 0 ? [`  counts from the next start of containers: ${atNextStart.join(', ')}`] : []),
  ];
}
