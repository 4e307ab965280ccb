import type { Readable } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import { deadline } from '../base/deadline.ts';
import type { ContainerAccess } from './container-access.ts';
import type { ContainerId } from './container-runtime.ts';

export interface ExecOnceOptions {
  readonly clock: Clock;
  /** Undefined: as long as it takes. */
  readonly timeoutMs?: number;
  /** The rest is read and dropped. Default 10 KiB (pkg/probe/exec, maxReadLength). */
  readonly maxOutputBytes?: number;
}

export interface ExecResult {
  readonly exitCode: number;
  /** What it wrote to its standard output, then what it wrote to its standard error, as pkg/kubelet/kuberuntime RunInContainer joins them. */
  readonly output: string;
}

/** The command did not end in time. It may go on in its container. */
export class ExecTimeoutError extends Error {
  readonly timeoutMs: number;

  constructor(command: readonly string[], timeoutMs: number) {
    super(`command ${JSON.stringify(command.join(' '))} timed out`);
    this.name = 'ExecTimeoutError';
    this.timeoutMs = timeoutMs;
  }
}

/** Runs a command without input to its end: probes and hooks. Rejects with ExecTimeoutError, the signal's reason, or why it could not be run. */
export async function execOnce(
  access: Pick<ContainerAccess, 'exec'>,
  id: ContainerId,
  command: readonly string[],
  { clock, timeoutMs, maxOutputBytes = 10 << 10 }: ExecOnceOptions,
  signal: AbortSignal,
): Promise<ExecResult> {
  signal.throwIfAborted();
  using own = deadline(clock, timeoutMs ?? Infinity, () => new ExecTimeoutError(command, timeoutMs ?? Infinity), signal);
  try {
    const session = await access.exec(id, command, { stdin: false, stdout: true, stderr: true, tty: false }, own.signal);
    const outputs = [session.stdout, session.stderr].map((stream) => beginningOf(stream, maxOutputBytes));
    const exitCode = (await session.ended) ?? 0;
    const output = Buffer.concat(await Promise.all(outputs)).subarray(0, maxOutputBytes);
    return { exitCode, output: output.toString() };
  } catch (error) {
    own.signal.throwIfAborted();
    throw error;
  }
}

/** Reads all and keeps the first bytes. What breaks the stream breaks the session, which tells of it. */
function beginningOf(stream: Readable | undefined, maxBytes: number): Promise<Buffer> {
  const kept: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    if (!stream) {
      resolve(Buffer.alloc(0));
      return;
    }
    stream.on('data', (chunk: Buffer) => {
      if (bytes >= maxBytes) return;
      // A copy: a piece of a big buffer would hold all of it.
      kept.push(Buffer.from(chunk.subarray(0, maxBytes - bytes)));
      bytes += chunk.length;
    });
    stream.once('error', () => {});
    stream.once('close', () => resolve(Buffer.concat(kept)));
  });
}
