import { systemClock, type Clock } from '../base/clock.ts';
import { printable } from '../base/printable.ts';
import type { ExplainedInShort } from '../model/explanation.ts';
import type { AgentClient } from './agent-client.ts';
import { CommandError, type CommandIo, type CommandOutput, UsageError } from './command-io.ts';
import { parseArguments } from './parse-arguments.ts';
import { going, watchScreen } from './watch-screen.ts';

export const watchFlags = { namespace: { short: 'n', value: true } } as const;

export const watchUsage = `Usage: rxlet watch [-n NAMESPACE]

Shows all pods of this node, a line each, and what is going on with them, until Ctrl-C: the worst first, pulls and what is waited for with the
time that is left. Where the output is no terminal, there is a line for each change.
`;

const EVERY_MS = 1_000;
const enterScreen = '\u001B[?1049h\u001B[?25l';
const leaveScreen = '\u001B[?25h\u001B[?1049l';
const home = '\u001B[H';
const eraseLine = '\u001B[K';
const eraseBelow = '\u001B[J';

type Signals = Pick<NodeJS.Process, 'on' | 'off'>;

export async function runWatch(
  argv: readonly string[],
  agent: Pick<AgentClient, 'json'>,
  io: CommandIo,
  { clock = systemClock, signals = process }: { readonly clock?: Pick<Clock, 'sleep'>; readonly signals?: Signals } = {},
): Promise<number> {
  const { flags, words, rest } = parseArguments(argv, watchFlags);
  if (words.length > 0 || rest !== undefined) throw new UsageError("all pods are shown; 'rxlet explain POD' is about one");
  const read = async (): Promise<readonly ExplainedInShort[]> => podsOf(await agent.json('/rxlet/v1/explain'), flags['namespace']);
  const stop = new AbortController();
  const end = (): void => stop.abort();
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) signals.on(name, end);
  io.stdout.on('error', end);
  try {
    // An agent that is not there is an error, not an empty screen.
    const first = await read();
    if (io.stdout.isTTY === true) await onScreen(first, read, io, clock, stop.signal);
    else await asLines(first, read, io, clock, stop.signal);
  } finally {
    for (const name of names) signals.off(name, end);
    io.stdout.off('error', end);
  }
  return 0;
}

type Read = () => Promise<readonly ExplainedInShort[]>;

async function onScreen(
  first: readonly ExplainedInShort[],
  read: Read,
  { stdout, nowMs }: CommandIo,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  let pods = first;
  let trouble: string | undefined;
  const draw = (): void => show(stdout, [...watchScreen(pods, sizeOf(stdout), nowMs()), ...(trouble === undefined ? [] : [trouble])]);
  stdout.write(enterScreen);
  stdout.on('resize', draw);
  try {
    draw();
    while (await passed(clock, signal)) {
      try {
        pods = await read();
        trouble = undefined;
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        trouble = printable(error.message).slice(0, sizeOf(stdout).columns);
      }
      draw();
    }
  } finally {
    stdout.off('resize', draw);
    stdout.write(leaveScreen);
  }
}

/** A line for each pod that is new, gone or otherwise than before. */
async function asLines(
  first: readonly ExplainedInShort[],
  read: Read,
  { stdout, nowMs }: CommandIo,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  let before = new Map<string, string>();
  const print = (pods: readonly ExplainedInShort[]): void => {
    const now = new Map(pods.map((each) => [each.uid ?? each.pod, printable(`${each.pod} ${each.state}: ${going(each)}`)]));
    const at = new Date(nowMs()).toISOString();
    for (const [key, line] of now) if (before.get(key) !== line) stdout.write(`${at} ${line}\n`);
    for (const [key, line] of before) if (!now.has(key)) stdout.write(`${at} no longer there: ${line}\n`);
    before = now;
  };
  print(first);
  while (await passed(clock, signal)) print(await read());
}

/** False: the end. */
async function passed(clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<boolean> {
  await clock.sleep(EVERY_MS, signal).catch(() => {});
  return !signal.aborted;
}

const sizeOf = ({ columns = 80, rows = 24 }: CommandOutput): { readonly columns: number; readonly rows: number } => ({ columns, rows });

const show = (stdout: CommandOutput, lines: readonly string[]): void =>
  void stdout.write(`${home}${lines.map((line) => `${line}${eraseLine}`).join('\r\n')}${eraseBelow}`);

function podsOf(answer: unknown, namespace: string | undefined): readonly ExplainedInShort[] {
  if (typeof answer !== 'object' || answer === null || !('items' in answer) || !Array.isArray(answer.items))
    throw new CommandError("the agent's answer is no list of pods");
  const items: readonly ExplainedInShort[] = answer.items;
  return items.filter(({ pod }) => namespace === undefined || pod.startsWith(`${namespace}/`));
}
