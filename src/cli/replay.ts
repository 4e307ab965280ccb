import { printable } from '../base/printable.ts';
import type { ReconcileRecord } from '../ports/pod-plan.ts';
import { UsageError } from './command-io.ts';
import { parseArguments } from './parse-arguments.ts';
import { harmlessJson } from './harmless-json.ts';

export interface ReplayIo {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** What is shown of a replay. */
export interface ReplayRun {
  /** Of the recording that is replayed. */
  readonly startedAtMs: number;
  readonly agent: string;
  readonly damage: string | undefined;
  /** Hears of each decision in turn; false ends the replay there. */
  play(
    onDecision: (record: ReconcileRecord, text: string) => boolean,
    untilMs: number | undefined,
  ): Promise<{
    readonly decisions: number;
    readonly difference:
      | { readonly atMs: number; readonly what: string; readonly recorded?: string | undefined; readonly replayed?: string | undefined }
      | undefined;
    /** What the agent knew of a pod at the end. */
    readonly known: (uid: string) => unknown;
  }>;
}

/** Rejects where the file is no recording that can be replayed, with the reason. */
export type OpenReplay = (path: string) => Promise<ReplayRun>;

export const replayUsage = `Usage: rxlet replay FILE [--until=SECONDS] [--pod=NAMESPACE/NAME] [--break=NAMESPACE/NAME:NUMBER] [--output=text|json]

Runs what an agent has recorded (--record=FILE) through the agent's own decisions again, in virtual time, and prints each of them, or the first
one that differs. Nothing is started, asked or changed.

--until   ends so many seconds after the recording began
--pod     prints the decisions about this pod only
--break   ends at this decision about a pod, counted from 1, and shows what was known then

Exit code: 0 all was decided as it was, 1 something differs, 2 the file cannot be replayed.
`;

export const replayFlags = {
  until: { value: true },
  pod: { value: true },
  break: { value: true },
  output: { short: 'o', value: true },
  help: { short: 'h' },
} as const;

interface Asked {
  readonly path: string;
  readonly untilMs: number | undefined;
  readonly pod: string | undefined;
  readonly stopAt: { readonly pod: string; readonly number: number } | undefined;
  readonly json: boolean;
}

/** `rxlet replay`. Resolves with the exit code. */
export async function runReplay(argv: readonly string[], { stdout, stderr }: ReplayIo, open: OpenReplay): Promise<number> {
  let asked: Asked | undefined;
  try {
    asked = readArguments(argv);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`${error.message}\n\n${replayUsage}`);
    return 2;
  }
  if (asked === undefined) {
    stdout.write(replayUsage);
    return 0;
  }
  let replay: ReplayRun;
  try {
    replay = await open(asked.path);
  } catch (error) {
    stderr.write(
      `error: ${printable(asked.path)} cannot be replayed: ${printable(error instanceof Error ? error.message : String(error))}\n`,
    );
    return 2;
  }
  try {
    return await show(replay, asked, { stdout, stderr });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    stderr.write(`error: ${printable(asked.path)} cannot be replayed further: a line of it is damaged: ${printable(why)}\n`);
    return 2;
  }
}

async function show(replay: ReplayRun, { untilMs, pod, stopAt, json }: Asked, { stdout, stderr }: ReplayIo): Promise<number> {
  const { startedAtMs, agent, damage } = replay;
  if (damage !== undefined) stderr.write(`warning: ${damage}\n`);
  let seen = 0;
  let stopped: ReconcileRecord | undefined;
  const print = (record: ReconcileRecord, text: string): boolean => {
    if (pod === undefined || record.pod === pod) stdout.write(json ? `${harmlessJson(text)}\n` : decisionLine(record, startedAtMs));
    if (stopAt === undefined || record.pod !== stopAt.pod || ++seen < stopAt.number) return true;
    stopped = record;
    return false;
  };
  const { decisions, difference, known } = await replay.play(print, untilMs === undefined ? undefined : startedAtMs + untilMs);
  if (difference) {
    stdout.write(`\ndiffers ${seconds(difference.atMs - startedAtMs)} after the start: ${printable(difference.what)}\n`);
    if (difference.recorded !== undefined) stdout.write(`  recorded by ${printable(agent)}: ${printable(difference.recorded)}\n`);
    if (difference.replayed !== undefined) stdout.write(`  replayed: ${printable(difference.replayed)}\n`);
    return 1;
  }
  if (stopped) {
    stdout.write(
      `\nknown at decision ${seen} about ${printable(stopped.pod)}:\n${printableLines(JSON.stringify({ decision: stopped, ...asObject(known(stopped.uid)) }, undefined, 2))}\n`,
    );
    return 0;
  }
  if (stopAt) {
    stderr.write(`error: there are ${seen} decisions about ${printable(stopAt.pod)}, and no decision ${stopAt.number}\n`);
    return 2;
  }
  if (!json) stdout.write(`${decisions} decisions, all as recorded\n`);
  return 0;
}

function readArguments(argv: readonly string[]): Asked | undefined {
  const { flags: given, words, rest = [] } = parseArguments(argv, replayFlags);
  if (given['help'] === 'true') return undefined;
  const [path, ...more] = [...words, ...rest];
  if (path === undefined) throw new UsageError('which recording?');
  if (more.length > 0) throw new UsageError(`one recording at a time, not ${more.length + 1}`);
  const output = given['output'] ?? 'text';
  if (output !== 'text' && output !== 'json') throw new UsageError(`--output is text or json, not ${JSON.stringify(output)}`);
  const until = given['until'] === undefined ? undefined : Number(given['until'].replace(/s$/, ''));
  if (until !== undefined && !(until >= 0)) throw new UsageError(`--until is a number of seconds, not ${JSON.stringify(given['until'])}`);
  const at = given['break'] === undefined ? undefined : /^([^:]+\/[^:]+):([1-9][0-9]{0,9})$/.exec(given['break']);
  if (at === null) throw new UsageError(`--break is NAMESPACE/NAME:NUMBER, not ${JSON.stringify(given['break'])}`);
  return {
    path,
    untilMs: until === undefined ? undefined : until * 1000,
    pod: given['pod'],
    stopAt: at && { pod: at[1] ?? '', number: Number(at[2]) },
    json: output === 'json',
  };
}

function decisionLine({ pod, atMs, wakes, plan, outcomes, failed, phase, next }: ReconcileRecord, startedAtMs: number): string {
  const did = outcomes.map(({ action, note, error }) =>
    [action.do, ...('name' in action ? [action.name] : []), ...((error ?? note) ? [`(${error ?? note})`] : [])].join(' '),
  );
  const words = [
    `woken: ${wakes.join(', ')}`,
    ...(plan.because.length > 0 ? [`because: ${plan.because.join('; ')}`] : []),
    `did: ${did.join('; ') || 'nothing'}`,
    ...(failed === undefined ? [] : [`failed: ${failed}`]),
    ...(phase === undefined ? [] : [phase]),
    `next: ${typeof next === 'object' ? `in ${seconds(next.afterMs)}` : next}`,
  ];
  return `${printable(`${seconds(atMs - startedAtMs).padStart(9)}  ${pod}  ${words.join(' | ')}`)}\n`;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');
