import { printable } from '../base/printable.ts';
import { hasChanges, type PlanAnswer, type PlannedObject, type PlannedPod } from '../model/planned-changes.ts';
import { takeAgentFlags } from './agent-flags.ts';
import { CommandError, UsageError } from './command-io.ts';
import { parseArguments } from './parse-arguments.ts';
import { harmlessJson } from './harmless-json.ts';

/** How plans are made. All reject with CommandError, in words for people. */
export interface PlanTools {
  /** Of what manifests say in place of other manifests. */
  against(paths: readonly string[], directory: string): Promise<Planned>;
  /** Of what manifests say in place of what the agent at the socket runs. */
  onNode(paths: readonly string[], socketPath: string): Promise<Planned>;
}

export interface Planned {
  readonly answer: PlanAnswer;
  readonly unreadable: readonly { readonly file: string; readonly why: string }[];
}

interface Io {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

export const planUsage = `Usage: rxlet plan PATH... [--against=DIR] [--output=text|json] [--root-dir=DIR | --socket=PATH]

Says what would happen if manifests took the place of those that the agent on this machine runs: for each pod what differs, and whether it
starts, restarts, goes on with other resources, is made again, stops, or may not run here and why. Nothing is changed. The agent is asked over
its local socket, which --root-dir, as it was given it, or --socket names. With --against=DIR no agent is needed: the manifests take the place
of those of DIR, whose pods are taken to run as they are declared there, and whether the node has room for a pod is not judged.

A PATH that is a directory takes the place of all manifests: pods that it lacks stop. A PATH that is a manifest takes the place of the manifest
of its file name, and of the pod or object of its name; all others stay. A manifest with faults takes no pod away. Whether there are CPUs and
memory of their own for containers (cpuManagerPolicy, memoryManagerPolicy) is decided when a pod starts, and not judged here.
What may be a password is not shown: values of Secrets, ConfigMaps, environments and headers, commands and their arguments, passwords in URLs.

Exit code: 0 nothing would change, 1 something would, 2 there are faults, or something could not be read or asked.
`;

export const planFlags = { against: { value: true }, output: { short: 'o', value: true } } as const;
const FAULTS = 2;

/** `rxlet plan`. Resolves with the exit code. */
export async function runPlan(argv: readonly string[], { stdout, stderr }: Io, tools: PlanTools, defaultRootDir: string): Promise<number> {
  try {
    const asked = askedBy(argv, defaultRootDir);
    if (asked === 'help') {
      stdout.write(planUsage);
      return 0;
    }
    const { paths, against, socketPath, json } = asked;
    const { answer, unreadable } = await (against === undefined ? tools.onNode(paths, socketPath) : tools.against(paths, against));
    for (const { file, why } of unreadable) stderr.write(`${printable(`${file}: cannot be read: ${why}`)}\n`);
    stdout.write(json ? `${harmlessJson(JSON.stringify(answer, undefined, 2))}\n` : planText(answer));
    if (answer.faults.length > 0 || unreadable.length > 0) return FAULTS;
    return hasChanges(answer) ? 1 : 0;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    stderr.write(`error: ${printable(error.message)}\n${error instanceof UsageError ? `\n${planUsage}` : ''}`);
    return FAULTS;
  }
}

interface Asked {
  readonly paths: readonly string[];
  /** Undefined: against what runs. */
  readonly against: string | undefined;
  readonly socketPath: string;
  readonly json: boolean;
}

/** Throws UsageError. */
function askedBy(argv: readonly string[], defaultRootDir: string): Asked | 'help' {
  const { own, help, socketPath } = takeAgentFlags(argv, defaultRootDir);
  if (help) return 'help';
  const { flags, words, rest = [] } = parseArguments(own, planFlags);
  const { against, output = 'text' } = flags;
  if (output !== 'text' && output !== 'json') throw new UsageError(`--output is text or json, not ${JSON.stringify(output)}`);
  const paths = [...words, ...rest];
  if (paths.length === 0) throw new UsageError('which manifest?');
  if (against === '') throw new UsageError('against which manifests? --against=DIR names them');
  return { paths, against, socketPath, json: output === 'json' };
}

function planText({ pods, objects, faults, moreFaults }: PlanAnswer): string {
  const changed = pods.filter((pod) => hasChanges({ pods: [pod], objects: [] }));
  const same = pods.length - changed.length;
  const lines = [
    ...faults.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`.replaceAll(/[\r\n]+\s*/g, ' ')),
    ...(moreFaults > 0 ? [`and ${moreFaults} more faults`] : []),
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
