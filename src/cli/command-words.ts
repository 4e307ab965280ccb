import type { CommandName } from '../options/commands.ts';
import { configUsage } from './config.ts';
import { enginesFlags, enginesUsage } from './engines.ts';
import { execFlags, execUsage } from './exec.ts';
import { explainFlags, explainUsage } from './explain.ts';
import { completionUsage } from './completion-usage.ts';
import { logsFlags, logsUsage } from './logs.ts';
import type { FlagSpec } from './parse-arguments.ts';
import { planFlags, planUsage } from './plan.ts';
import { psFlags, psUsage } from './ps.ts';
import { replayFlags, replayUsage } from './replay.ts';
import { statsFlags, statsUsage } from './stats.ts';
import { supportBundleFlags, supportBundleUsage } from './support-bundle.ts';
import { timelineFlags, timelineUsage } from './timeline.ts';
import { validateFlags, validateUsage } from './validate.ts';
import { watchFlags, watchUsage } from './watch.ts';

/** What may stand where a command takes a word. */
export type WordKind = 'pod' | 'pod, then container' | 'pod, node or file' | 'file' | 'action, then file' | 'shell' | 'nothing';

export interface CommandWords {
  readonly usage: string;
  readonly flags: Readonly<Record<string, FlagSpec>>;
  readonly words: WordKind;
  /** What `--output` may be. */
  readonly outputs?: readonly string[];
  /** Asks the agent on this machine: takes the flags that say which. */
  readonly asks?: true;
}

export const commandWords: Readonly<Record<CommandName, CommandWords>> = {
  config: { usage: configUsage, flags: { output: { short: 'o', value: true } }, words: 'action, then file', outputs: ['json'] },
  validate: { usage: validateUsage, flags: validateFlags, words: 'file', outputs: ['text', 'json'] },
  plan: { usage: planUsage, flags: planFlags, words: 'file', outputs: ['text', 'json'], asks: true },
  replay: { usage: replayUsage, flags: replayFlags, words: 'file', outputs: ['text', 'json'] },
  engines: { usage: enginesUsage, flags: enginesFlags, words: 'file', outputs: ['json'] },
  ps: { usage: psUsage, flags: psFlags, words: 'nothing', outputs: ['wide', 'json'], asks: true },
  logs: { usage: logsUsage, flags: logsFlags, words: 'pod, then container', asks: true },
  exec: { usage: execUsage, flags: execFlags, words: 'pod', asks: true },
  stats: { usage: statsUsage, flags: statsFlags, words: 'pod', outputs: ['json'], asks: true },
  explain: { usage: explainUsage, flags: explainFlags, words: 'pod, node or file', outputs: ['json'], asks: true },
  timeline: { usage: timelineUsage, flags: timelineFlags, words: 'pod', outputs: ['json'], asks: true },
  watch: { usage: watchUsage, flags: watchFlags, words: 'nothing', asks: true },
  'support-bundle': { usage: supportBundleUsage, flags: supportBundleFlags, words: 'nothing', asks: true },
  completion: { usage: completionUsage, flags: {}, words: 'shell' },
};
