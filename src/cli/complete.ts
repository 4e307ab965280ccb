import { type CommandName, commands } from '../options/commands.ts';
import { flagsOf } from '../options/option.ts';
import { allOptions } from '../options/options-table.ts';
import { commandWords } from './command-words.ts';
import { shells } from './completion-usage.ts';
import type { NamedPod } from './pod-names.ts';

export interface Completion {
  /** What the word may become, whole. */
  readonly words: readonly string[];
  /** What else it may be, which the shell knows. */
  readonly besides: 'files' | 'directories' | 'nothing';
}

interface Flag {
  readonly short?: string;
  readonly value?: boolean;
}

const nothing: Completion = { words: [], besides: 'nothing' };
const files: Completion = { words: [], besides: 'files' };
const directories: Completion = { words: [], besides: 'directories' };
const agentFlags = { 'root-dir': { value: true }, socket: { value: true } } as const;
/** No shell gives any of these a meaning. */
const harmless = /^[\w./=-]+$/;

/**
 * What the last word of a command line may become; the words are those after the program's name, and the last one may be empty. `listPods` is
 * called only where a pod, a container or a namespace may stand.
 */
export async function complete(line: readonly string[], listPods: () => Promise<readonly NamedPod[]>): Promise<Completion> {
  const current = line.at(-1) ?? '';
  const { words, besides } = await candidates(line.slice(0, -1), current, listPods);
  return { words: [...new Set(words)].filter((word) => word.startsWith(current) && harmless.test(word)).toSorted(), besides };
}

async function candidates(before: readonly string[], current: string, listPods: () => Promise<readonly NamedPod[]>): Promise<Completion> {
  const command = commands.find((name) => name === before[0]);
  if (command === undefined && before.length === 0 && !current.startsWith('-')) return { ...nothing, words: commands };
  // What runs in a container has words of its own.
  if (before.includes('--')) return nothing;
  const flags = command === undefined ? optionFlags() : flagsOfCommand(command);
  const [, named, typed] = /^--([^=]+)=(.*)$/s.exec(current) ?? [];
  if (named !== undefined && typed !== undefined) {
    const { words, besides } = await values(command, named, before, listPods);
    return { words: words.map((word) => `--${named}=${word}`), besides };
  }
  const waiting = waitingFlag(flags, before.at(-1) ?? '');
  if (waiting !== undefined) return await values(command, waiting, before, listPods);
  if (current.startsWith('-')) return { ...nothing, words: Object.keys(flags).map((flag) => `--${flag}`) };
  if (command === undefined) return nothing;
  const typedWords = wordsOf(flags, before.slice(1));
  switch (commandWords[command].words) {
    case 'file':
      return files;
    case 'action, then file':
      return typedWords.length === 0 ? { ...nothing, words: ['check', 'print'] } : files;
    case 'shell':
      return { ...nothing, words: typedWords.length === 0 ? shells : [] };
    case 'nothing':
      return nothing;
    case 'pod':
      return typedWords.length === 0 ? { ...nothing, words: podNames(await listPods(), flags, before, current) } : nothing;
    case 'pod, node or file':
      return typedWords.length === 0 ? { ...files, words: ['node', ...podNames(await listPods(), flags, before, current)] } : nothing;
    case 'pod, then container':
      if (typedWords.length > 1) return nothing;
      return typedWords.length === 0
        ? { ...nothing, words: podNames(await listPods(), flags, before, current) }
        : { ...nothing, words: containerNames(await listPods(), typedWords) };
    default:
      return commandWords[command].words satisfies never;
  }
}

function flagsOfCommand(command: CommandName): Readonly<Record<string, Flag>> {
  const { flags, asks } = commandWords[command];
  // It takes the agent's.
  const more = command === 'config' ? optionFlags() : {};
  return { ...more, ...flags, ...(asks === true ? agentFlags : {}), help: { short: 'h' } };
}

function optionFlags(): Readonly<Record<string, Flag>> {
  const all = allOptions.flatMap(([, option]) =>
    flagsOf(option).map((flag) => [flag, { value: option.kind.bare === undefined, ...short(option.shorthand) }] as const),
  );
  return Object.fromEntries(all);
}

const short = (shorthand: string | undefined): Flag => (shorthand === undefined ? {} : { short: shorthand });

/** The flag whose value comes next, after this word. */
function waitingFlag(flags: Readonly<Record<string, Flag>>, word: string): string | undefined {
  const found = Object.entries(flags).find(
    ([name, flag]) => word === `--${name}` || (flag.short !== undefined && /^-[^-]/.test(word) && word.endsWith(flag.short)),
  );
  return found?.[1].value === true ? found[0] : undefined;
}

/** Those that are neither flags nor their values. */
function wordsOf(flags: Readonly<Record<string, Flag>>, before: readonly string[]): readonly string[] {
  return before.filter((word, at) => !word.startsWith('-') && (at === 0 || waitingFlag(flags, before[at - 1] ?? '') === undefined));
}

async function values(
  command: CommandName | undefined,
  flag: string,
  before: readonly string[],
  listPods: () => Promise<readonly NamedPod[]>,
): Promise<Completion> {
  if (command === undefined || (command === 'config' && flag !== 'output')) {
    const option = allOptions.find(([, each]) => flagsOf(each).includes(flag))?.[1];
    if (option?.kind.bare !== undefined) return { ...nothing, words: ['true', 'false'] };
    if (/(?:^|-)dir(?:ectory)?$/.test(flag)) return directories;
    return option?.path === true || /(?:^|-)(?:file|path|config|kubeconfig|record)$/.test(flag) ? files : nothing;
  }
  switch (flag) {
    case 'namespace':
      return { ...nothing, words: (await listPods()).map(({ namespace }) => namespace) };
    case 'container':
      return { ...nothing, words: containerNames(await listPods(), wordsOf(flagsOfCommand(command), before.slice(1))) };
    case 'output':
      return command === 'support-bundle' ? files : { ...nothing, words: commandWords[command].outputs ?? [] };
    case 'stream':
      return { ...nothing, words: command === 'logs' ? ['stdout', 'stderr'] : [] };
    case 'root-dir':
    case 'against':
      return directories;
    case 'socket':
      return files;
    default:
      return nothing;
  }
}

/** As they are asked for: with the namespace where that is being typed, or where several have the name. */
function podNames(pods: readonly NamedPod[], flags: Readonly<Record<string, Flag>>, before: readonly string[], current: string): string[] {
  const namespace = valueOf(flags, before, 'namespace');
  const here = pods.filter((pod) => namespace === undefined || pod.namespace === namespace);
  return here.map((pod) => {
    const isAmbiguous = here.some((other) => other !== pod && other.name === pod.name);
    return current.includes('/') || isAmbiguous ? `${pod.namespace}/${pod.name}` : pod.name;
  });
}

function valueOf(flags: Readonly<Record<string, Flag>>, before: readonly string[], name: string): string | undefined {
  for (const [at, word] of before.entries()) {
    if (word.startsWith(`--${name}=`)) return word.slice(name.length + 3);
    if (waitingFlag(flags, word) === name) return before[at + 1];
  }
  return undefined;
}

/** Of the pod that is named, or of all of them. */
function containerNames(pods: readonly NamedPod[], [asked]: readonly string[]): readonly string[] {
  const named = pods.filter(({ name, namespace }) => asked === undefined || name === asked || `${namespace}/${name}` === asked);
  return named.flatMap(({ pod: { spec } }) =>
    [...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? []), ...(spec?.initContainers ?? [])].map(({ name }) => name),
  );
}
