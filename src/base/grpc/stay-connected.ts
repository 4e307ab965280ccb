import type { Clock } from '../clock.ts';
import { exponential } from '../exponential.ts';
import { jitter } from '../jitter.ts';
import { unlessAborted } from '../unless-aborted.ts';
import type { GrpcConnection, GrpcSession } from './grpc-connection.ts';

/** It begins as grpc-go's does, and then is no rarer than a peer that comes back wants to be noticed. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 10_000;
const retryMs = exponential(FIRST_RETRY_MS, LAST_RETRY_MS);

/**
 * Makes the connection without waiting for a call, and again when it is lost: whoever hears of its state then knows early whether somebody
 * listens. Resolves once the signal aborts.
 */
export async function stayConnected(
  connection: GrpcConnection,
  { clock, random }: { readonly clock: Pick<Clock, 'sleep'>; readonly random: (() => number) | undefined },
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    const session = attempt(connection);
    if (session !== undefined) await unlessAborted(lost(session), signal).catch(() => {});
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

const lost = ({ http2 }: GrpcSession): Promise<void> => new Promise((done) => void http2.once('close', done));
