import { anySignal } from '../any-signal.ts';
import type { Clock } from '../clock.ts';
import { exponential } from '../exponential.ts';
import { jitter } from '../jitter.ts';
import { unlessAborted } from '../unless-aborted.ts';
import type { GrpcConnection, GrpcSession } from './grpc-connection.ts';

/** It begins as grpc-go's does, and then is no rarer than a peer that comes back wants to be noticed. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 10_000;
const retryMs = exponential(FIRST_RETRY_MS, LAST_RETRY_MS);

/** In which a peer has to show that it is one (grpc-go's minConnectTimeout): another may listen in the place of one that hangs. */
const CONNECT_MS = 20_000;

/**
 * Makes the connection without waiting for a call, and again when it is lost, so that its `onChange` tells early whether the server listens.
 * Resolves once the signal aborts.
 */
export async function stayConnected(
  connection: GrpcConnection,
  { clock, random }: { readonly clock: Pick<Clock, 'sleep'>; readonly random: (() => number) | undefined },
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    const session = attempt(connection);
    if (session !== undefined) await over(session, clock, signal);
    failures = session?.connected ? 1 : failures + 1;
    await clock.sleep(jitter(retryMs(failures), 0.2, random), signal).catch(() => {});
  }
}

/** Undefined while it is too early, and where the connection is closed for good. */
function attempt(connection: GrpcConnection): GrpcSession | undefined {
  try {
    return connection.session();
  } catch {
    return undefined;
  }
}

/** Resolves when the session takes no more calls, or the signal aborts. Ends one whose peer says nothing. */
async function over(session: GrpcSession, clock: Pick<Clock, 'sleep'>, signal: AbortSignal): Promise<void> {
  using waiting = anySignal(signal);
  const endSilent = (): void => {
    if (!session.connected) session.end(new Error(`the server has not said that it speaks HTTP/2 within ${CONNECT_MS / 1000} s`));
  };
  clock.sleep(CONNECT_MS, waiting.signal).then(endSilent, () => {});
  await unlessAborted(session.over, signal).catch(() => {});
  waiting.abort();
}
