import { spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { killGroup } from './kill-group.ts';

/**
 * What a program writes, to its output and its error output alike, as it comes and as fast as it is read. It has a process group of its own,
 * which is killed when the reader stops or `signal` aborts; neither waits for its end. Ends with the program, whatever its exit code.
 * Throws the signal's reason, or what kept the program from starting.
 */
export async function* commandOutput(program: string, argv: readonly string[], signal: AbortSignal): AsyncGenerator<Buffer, void> {
  signal.throwIfAborted();
  const child = spawn(program, argv, { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/', detached: true });
  const both = new PassThrough();
  const onAbort = (): void => void both.destroy(signal.reason);
  signal.addEventListener('abort', onAbort);
  child.once('error', (error) => both.destroy(error));
  child.once('close', () => both.end());
  for (const stream of [child.stdout, child.stderr]) stream.pipe(both, { end: false });
  try {
    for await (const piece of both) yield piece;
  } finally {
    signal.removeEventListener('abort', onAbort);
    killGroup(child.pid);
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
    child.unref();
  }
}
