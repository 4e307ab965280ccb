import { spawn } from 'node:child_process';
import { abortable } from './abortable.ts';
import type { Clock } from './clock.ts';
import { killGroup } from './kill-group.ts';

/** How a program ended, if it did. */
export type CommandEnd =
  | { readonly is: 'exited'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly is: 'killed'; readonly by: NodeJS.Signals; readonly stderr: string }
  /** It was killed, and need not have ended: a call of the kernel may hold it for as long as that hangs. */
  | { readonly is: 'late'; readonly ended: Promise<void> }
  | { readonly is: 'missing'; readonly error: Error };

export interface CommandLimits {
  readonly clock: Pick<Clock, 'schedule'>;
  readonly deadlineMs: number;
  /** Kills it, and rejects with its reason. */
  readonly signal: AbortSignal;
  /** What it reads; absent: nothing. */
  readonly input?: string;
  /** Absent: the agent's own. */
  readonly env?: NodeJS.ProcessEnv;
}

const MAX_OUTPUT_CHARS = 1 << 20;

/** Runs a program in a process group of its own. Neither deadline nor abort waits for its end, and whatever it started is killed with it. */
export function runCommand(program: string, argv: readonly string[], how: CommandLimits): Promise<CommandEnd> {
  const { clock, deadlineMs, signal, input, env = process.env } = how;
  return abortable(signal, (resolve) => {
    const child = spawn(program, argv, { stdio: 'pipe', cwd: '/', detached: true, env });
    // One that does not read it all ends as it likes.
    child.stdin.on('error', () => {}).end(input);
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] = (output[name] + text).slice(0, MAX_OUTPUT_CHARS);
      });
    }
    const leave = (): void => {
      killGroup(child.pid);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      child.unref();
    };
    const deadline = clock.schedule(() => {
      leave();
      resolve({ is: 'late', ended: new Promise((ended) => child.once('exit', () => ended())) });
    }, deadlineMs);
    child.once('error', (error) => resolve({ is: 'missing', error }));
    child.once('close', (code, by) => {
      if (code !== null) resolve({ is: 'exited', code, ...output });
      else resolve({ is: 'killed', by: by ?? 'SIGKILL', stderr: output.stderr });
    });
    return (aborted) => {
      deadline.unsubscribe();
      if (aborted) leave();
    };
  });
}
