import { AgentClient } from './agent-client.ts';
import { takeAgentFlags } from './agent-flags.ts';
import { CommandError } from './command-io.ts';
import { complete } from './complete.ts';
import { completionScripts } from './completion-scripts.ts';
import { completionUsage, shells } from './completion-usage.ts';
import { listPods, type NamedPod } from './pod-names.ts';

/** Somebody waits at the keyboard. */
const ANSWERS_WITHIN_MS = 1_000;

interface Io {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** `rxlet completion`. Returns the exit code. */
export function runCompletion(argv: readonly string[], { stdout, stderr }: Io): number {
  const [asked, ...others] = argv;
  if (asked === '--help' || asked === '-h') {
    stdout.write(completionUsage);
    return 0;
  }
  const shell = shells.find((name) => name === asked);
  if (shell === undefined || others.length > 0) {
    stderr.write(`error: which shell: ${shells.join(', ')}?\n\n${completionUsage}`);
    return 2;
  }
  stdout.write(completionScripts[shell]);
  return 0;
}

/** What completions ask, with the words of the line after "--": a line for each word, then what else the shell is to offer. */
export async function runComplete(argv: readonly string[], { stdout }: Pick<Io, 'stdout'>, defaultRootDir: string): Promise<number> {
  const line = argv[0] === '--' ? argv.slice(1) : argv;
  const { words, besides } = await complete(line, () => podsOf(line, defaultRootDir));
  stdout.write([...words, `:${besides}`, ''].join('\n'));
  return 0;
}

/** None where no agent answers: a line that is being typed is no place for complaints. */
async function podsOf(line: readonly string[], defaultRootDir: string): Promise<readonly NamedPod[]> {
  try {
    const { socketPath } = takeAgentFlags(line.slice(0, -1), defaultRootDir);
    return await listPods(new AgentClient(socketPath, ANSWERS_WITHIN_MS));
  } catch (error) {
    if (error instanceof CommandError) return [];
    throw error;
  }
}
