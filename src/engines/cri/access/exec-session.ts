import { PassThrough, type Readable } from 'node:stream';
import type { ContainerSession, StreamsWanted } from '../../../ports/container-access.ts';
import { RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import type { CommandOutcome } from './command-status.ts';
import type { StreamingDial } from './dial-streaming-url.ts';
import { remoteSession } from './remote-session.ts';
import { runningContainer } from './running-container.ts';

export interface SessionDeps extends StreamingDial {
  readonly client: Pick<CriClient, 'call'>;
}

/** See ContainerAccess.exec. */
export async function execSession(
  { client, ...dial }: SessionDeps,
  id: string,
  command: readonly string[],
  wanted: StreamsWanted,
  signal: AbortSignal,
): Promise<ContainerSession> {
  await runningContainer(client, id, signal);
  const asked = askedOf(wanted);
  const { url } = await client.call(RuntimeService.method.exec, { containerId: id, cmd: [...command], ...asked }, signal);
  const session = await remoteSession(url, asked, dial, signal);
  const ended = session.ended.then((outcome) => {
    if (outcome.kind === 'exited') return outcome.exitCode;
    const code = exitCodeOfRefusal(outcome.message);
    if (code === undefined) throw new Error(outcome.message);
    return code;
  });
  ended.catch(() => {});
  const stdout = wanted.stdout ? withLastWords(session.stdout, session.ended) : drained(session.stdout);
  return { stdin: wanted.stdin ? session.stdin : undefined, stdout, stderr: session.stderr, resize: session.resize, ended };
}

/** See ContainerAccess.attach. What the container wrote before is not sent again. */
export async function attachSession(
  { client, ...dial }: SessionDeps,
  id: string,
  wanted: StreamsWanted,
  signal: AbortSignal,
): Promise<ContainerSession> {
  await runningContainer(client, id, signal);
  const asked = askedOf(wanted);
  const { url } = await client.call(RuntimeService.method.attach, { containerId: id, ...asked }, signal);
  const { stdin, stdout, stderr, resize, ended } = await remoteSession(url, asked, dial, signal);
  const detached = ended.then((outcome) => {
    if (outcome.kind === 'failed') throw new Error(outcome.message);
    return undefined;
  });
  detached.catch(() => {});
  return { stdin: wanted.stdin ? stdin : undefined, stdout: wanted.stdout ? stdout : drained(stdout), stderr, resize, ended: detached };
}

/**
 * What CRI takes: a terminal has one output, and something has to be asked for. containerd loses the output of a terminal without an input, so that
 * one is held open for it.
 */
function askedOf({ stdin, stdout, stderr, tty }: StreamsWanted): StreamsWanted {
  const asked = { stdin: stdin || tty, stderr: stderr && !tty, tty };
  return { ...asked, stdout: stdout || (!asked.stdin && !asked.stderr) };
}

/** Nobody wants it, and it must not hold up the rest. */
function drained(stream: Readable | undefined): undefined {
  stream?.resume();
}

/**
 * The exit code that a shell, and Docker, has for a command that could not be started: 127 where it is not there, else 126. Undefined for trouble of
 * another kind. Probes then fail on each engine alike.
 */
function exitCodeOfRefusal(message: string): number | undefined {
  if (!/OCI runtime exec failed/.test(message)) return undefined;
  return /no such file or directory|executable file not found/.test(message) ? 127 : 126;
}

/** An output at whose end stands why the command could not be started, as Docker has it. */
function withLastWords(output: Readable | undefined, ended: Promise<CommandOutcome>): Readable | undefined {
  if (output === undefined) return undefined;
  const whole = new PassThrough();
  whole.on('error', () => {});
  // Who wants no more of it must not hold up the rest.
  whole.once('close', () => {
    output.unpipe(whole);
    output.resume();
  });
  const finish = async (): Promise<void> => {
    const outcome = await ended;
    if (outcome.kind === 'failed' && exitCodeOfRefusal(outcome.message) !== undefined) whole.write(`${outcome.message}\n`);
    whole.end();
  };
  output.once('end', () => void finish().catch(() => {}));
  ended.catch((error: unknown) => whole.destroy(error instanceof Error ? error : new Error(String(error))));
  return output.pipe(whole, { end: false });
}
