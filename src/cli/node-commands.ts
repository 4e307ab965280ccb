import { AgentClient } from './agent-client.ts';
import { agentFlags, takeAgentFlags } from './agent-flags.ts';
import { CommandError, type CommandIo, UsageError } from './command-io.ts';
import { execUsage, runExec } from './exec.ts';
import { explainUsage, runExplain } from './explain.ts';
import { logsUsage, runLogs } from './logs.ts';
import { psUsage, runPs } from './ps.ts';
import { runStats, statsUsage } from './stats.ts';
import { runSupportBundle, supportBundleUsage } from './support-bundle.ts';
import { runTimeline, timelineUsage } from './timeline.ts';
import { runWatch, watchUsage } from './watch.ts';

type Run = (argv: readonly string[], agent: AgentClient, io: CommandIo) => Promise<number>;

const commands: Readonly<Record<NodeCommand, { readonly run: Run; readonly usage: string }>> = {
  ps: { run: runPs, usage: psUsage },
  logs: { run: runLogs, usage: logsUsage },
  exec: { run: runExec, usage: execUsage },
  stats: { run: runStats, usage: statsUsage },
  explain: { run: runExplain, usage: explainUsage },
  timeline: { run: runTimeline, usage: timelineUsage },
  watch: { run: runWatch, usage: watchUsage },
  'support-bundle': { run: runSupportBundle, usage: supportBundleUsage },
};

export type NodeCommand = 'ps' | 'logs' | 'exec' | 'stats' | 'explain' | 'timeline' | 'watch' | 'support-bundle';

/** One of the commands that talk to the agent on this machine. Resolves with the exit code: 0, 1, 2 for a wrong command line, exec's own. */
export async function runNodeCommand(name: NodeCommand, argv: readonly string[], io: CommandIo, defaultRootDir: string): Promise<number> {
  const { run, usage } = commands[name];
  try {
    const { own, help, socketPath } = takeAgentFlags(argv, defaultRootDir);
    if (help) {
      io.stdout.write(usage + agentFlags);
      return 0;
    }
    return await run(own, new AgentClient(socketPath), io);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const hint = error instanceof UsageError ? `See 'rxlet ${name} --help'.\n` : '';
    io.stderr.write(`error: ${error.message}\n${hint}`);
    return error.exitCode;
  }
}
