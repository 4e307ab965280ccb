import { Duplex } from 'node:stream';
import type { Clock } from '../../../base/clock.ts';
import type { ContainerSession, StreamsWanted } from '../../../ports/container-access.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { daemonWords, EngineResponseError } from '../client/engine-errors.ts';
import { hijackedSession } from './hijacked-session.ts';
import { runningContainer } from '../client/running-container.ts';

/**
 * The engine may close the outputs before it knows how the process ended. In all as patient as dockershim's five looks, two seconds
 * apart (pkg/kubelet/dockershim/exec.go), and sooner there.
 */
const EXIT_LOOKS_MS = [5, 20, 50, 100, 250, 575, 1000, 2000, 2000, 2000];

export interface AccessDeps {
  readonly client: EngineClient;
  readonly clock: Clock;
}

/** See ContainerAccess.exec. */
export async function execSession(
  { client, clock }: AccessDeps,
  id: string,
  command: readonly string[],
  wanted: StreamsWanted,
  signal: AbortSignal,
): Promise<ContainerSession> {
  await runningContainer(client, id, signal);
  const exec = await createExec(client, id, command, wanted, signal);
  const connection = await client.open(`POST /exec/${exec}/start`, client.requestTimeoutMs, signal, async (docker) =>
    hijacked(await docker.getExec(exec).start({ hijack: true, stdin: false, Detach: false, Tty: wanted.tty })),
  );
  return hijackedSession({
    connection,
    wanted,
    raw: wanted.tty,
    signal,
    resize: ({ width, height }) =>
      resizing(
        client.call(`POST /exec/${exec}/resize`, client.requestTimeoutMs, signal, (docker) =>
          docker.getExec(exec).resize({ w: width, h: height }),
        ),
      ),
    exitCode: () => exitCode(client, clock, exec, signal),
  });
}

/** dockerode gives something else when the engine, or a proxy before it, did not upgrade the connection. */
export function hijacked(stream: unknown): Duplex {
  if (stream instanceof Duplex) return stream;
  throw new Error('the engine did not give the connection over');
}

/** The terminal may be gone by now. */
export async function resizing(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof EngineResponseError)) throw error;
  }
}

async function createExec(
  client: EngineClient,
  id: string,
  command: readonly string[],
  { stdin, stdout, stderr, tty }: StreamsWanted,
  signal: AbortSignal,
): Promise<string> {
  try {
    const exec = await client.call(`POST /containers/${id}/exec`, client.requestTimeoutMs, signal, (docker) =>
      docker.getContainer(id).exec({
        Cmd: [...command],
        AttachStdin: stdin,
        AttachStdout: stdout,
        AttachStderr: stderr && !tty,
        Tty: tty,
      }),
    );
    return exec.id;
  } catch (error) {
    if (!(error instanceof EngineResponseError)) throw error;
    throw new Error(`failed to exec in container - Exec setup failed - ${daemonWords(error)}`, { cause: error });
  }
}

/** Undefined when it still runs after its outputs have long ended. */
async function exitCode(client: EngineClient, clock: Clock, exec: string, signal: AbortSignal): Promise<number | undefined> {
  for (const pauseMs of [...EXIT_LOOKS_MS, undefined]) {
    const { Running, ExitCode } = await client.call(`GET /exec/${exec}/json`, client.requestTimeoutMs, signal, (docker) =>
      docker.getExec(exec).inspect(),
    );
    if (!Running) return ExitCode ?? 0;
    if (pauseMs !== undefined) await clock.sleep(pauseMs, signal);
  }
  return undefined;
}
