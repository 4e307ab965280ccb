import { spawn } from 'node:child_process';
import { abortable } from './abortable.ts';
import { killGroup } from './kill-group.ts';

export interface FollowedCommand {
  /** A line of its output. */
  readonly onLine?: (line: string) => void;
  /** A line of its error output. */
  readonly onErrorLine?: (line: string) => void;
}

/** Longer lines are cut there. */
const MAX_LINE_CHARS = 64 << 10;
const MAX_LAST_CHARS = 500;

/**
 * Runs a program for as long as it lasts, in a process group of its own and with an input that says nothing. It ends with this process, also
 * where that is killed. Rejects when it ends, with the last that it said of an error; where `signal` aborts it is killed with all that it
 * started, and nothing waits for its end.
 */
export function followCommand(
  program: string,
  argv: readonly string[],
  { onLine = () => {}, onErrorLine = () => {} }: FollowedCommand,
  signal: AbortSignal,
): Promise<never> {
  return abortable<never>(signal, (_resolve, reject) => {
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...argv], { stdio: 'pipe', cwd: '/', detached: true });
    child.stdin.on('error', () => {});
    let last = '';
    eachLine(child.stdout, onLine);
    eachLine(child.stderr, (line) => {
      if (line.trim() !== '') last = line.slice(0, MAX_LAST_CHARS);
      onErrorLine(line);
    });
    child.once('error', reject);
    child.once('close', (code, by) =>
      reject(new Error(`${program} ended (${by ?? `exit code ${code}`})${last === '' ? '' : `: ${last}`}`)),
    );
    return () => {
      killGroup(child.pid);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      child.unref();
    };
  });
}

function eachLine(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, MAX_LINE_CHARS);
    for (const line of lines) take(line.slice(0, MAX_LINE_CHARS));
  });
}
