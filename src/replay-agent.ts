import { silentLogger } from './base/logger.ts';
import { Verbosity } from './base/verbosity.ts';
import { boundAgent } from './bound-agent.ts';
import type { KubeletOptions, OptionOrigins } from './options/kubelet-options.ts';
import type { ReconcileRecord } from './ports/pod-plan.ts';
import type { NodeParts } from './ports/node-parts.ts';
import { type Difference, Player } from './recording/player.ts';
import type { Recording } from './recording/read-recording.ts';
import { TurnClock } from './recording/turn-clock.ts';
import { fromJson } from './recording/value-json.ts';
import { runAgent } from './run-agent.ts';

export interface ReplayHow {
  /** Hears of each decision; false ends the replay there. */
  readonly onDecision?: (record: ReconcileRecord, text: string) => boolean | void;
  /** Ends the replay before the first input that is later, on the recorded agent's monotonic time. */
  readonly untilMs?: number | undefined;
}

export interface Replayed {
  readonly decisions: number;
  readonly turns: number;
  readonly difference: Difference | undefined;
  /** What the agent knew at the end. */
  readonly known: Pick<NodeParts, 'pods' | 'statuses'> | undefined;
}

const notInReplay = (): Promise<never> => Promise.reject(new Error('not in a replay'));

/** Runs a recording through the agent, in virtual time, until its end or the first difference. */
export async function replayAgent(
  { header, turns }: Recording,
  { onDecision, untilMs = Number.POSITIVE_INFINITY }: ReplayHow = {},
): Promise<Replayed> {
  let decisions = 0;
  let goesOn = true;
  let known: NodeParts | undefined;
  let failed: { readonly error: unknown } | undefined;
  const player = new Player(header, (record, text) => {
    decisions++;
    if (goesOn && onDecision?.(record, text) === false) goesOn = false;
  });
  const options = fromJson(header.options) as KubeletOptions;
  const stopping = new AbortController();
  player.callable('stop', (reason: unknown) => stopping.abort(reason));
  const frame = {
    log: silentLogger,
    origins: {} as OptionOrigins,
    verbosity: new Verbosity(0),
    logClock: new TurnClock(header),
    config: { read: notInReplay },
  };
  const agent = boundAgent(player, frame, header.capabilities, undefined);
  const list = [
    ...agent.list,
    { name: 'replay', wanted: () => true, load: async () => ({ capability: (node: NodeParts) => ((known = node), {}) }) },
  ];
  const start = (): void => {
    runAgent(options, agent.surroundings, stopping.signal, list).catch((error: unknown) => (failed = { error }));
  };
  let played = 0;
  let difference: Difference | undefined;
  for (const turn of turns) {
    if (turn.input.t > untilMs) break;
    difference = await player.play(turn, start);
    played++;
    if (difference && failed) difference = { ...difference, what: `${difference.what} (the agent has ended: ${String(failed.error)})` };
    if (difference || !goesOn) break;
  }
  return { decisions, turns: played, difference, known };
}
