import type { Readable, Writable } from 'node:stream';
import type { ContainerSession, TerminalSize } from '../../ports/container-access.ts';
import type { RemoteStreams } from './remote-streams.ts';
import { ResizeDecoder } from './resize-decoder.ts';

/** Joins the client's streams with the container's, until the outputs have ended and the session has. Its exit code; rejects when the session broke. */
export async function relaySession(session: ContainerSession, remote: RemoteStreams): Promise<number | undefined> {
  relayInput(remote.stdin, session.stdin);
  relaySizes(remote.resize, session);
  const [exitCode] = await Promise.all([
    session.ended,
    relayOutput(session.stdout, remote.stdout),
    relayOutput(session.stderr, remote.stderr),
  ]);
  return exitCode;
}

/** A process that reads no more must not hold up what else comes on the connection: the rest is dropped. */
function relayInput(from: Readable | undefined, to: Writable | undefined): void {
  if (from === undefined) {
    to?.end();
    return;
  }
  if (to === undefined) {
    from.resume();
    return;
  }
  const drop = (): void => {
    from.unpipe(to);
    from.resume();
  };
  to.on('error', drop);
  to.on('close', drop);
  from.pipe(to);
  // A stream that the client has reset ends without an end.
  from.on('close', () => to.end());
}

/** Resolves when the output has ended and is on its way. What the client no longer wants is dropped, so that the process can go on. */
function relayOutput(from: Readable | undefined, to: Writable | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (from === undefined) {
      to?.end();
      resolve();
      return;
    }
    const drop = (): void => {
      if (to !== undefined) from.unpipe(to);
      from.on('end', resolve);
      from.resume();
      if (from.readableEnded) resolve();
    };
    from.on('error', reject);
    from.on('close', () => {
      if (!from.readableEnded) resolve();
    });
    if (from.destroyed) resolve();
    else if (to === undefined || to.destroyed) drop();
    else {
      to.on('finish', resolve);
      to.on('close', drop);
      from.pipe(to);
    }
  });
}

/** One size at a time; of those that come meanwhile, the last. */
function relaySizes(from: Readable | undefined, session: Pick<ContainerSession, 'resize'>): void {
  if (from === undefined) return;
  const decoder = new ResizeDecoder();
  let latest: TerminalSize | undefined;
  let busy = false;
  const apply = async (): Promise<void> => {
    busy = true;
    while (latest !== undefined) {
      const size = latest;
      latest = undefined;
      // The process may be gone, or not there yet: the next size comes with the next change of the window.
      await session.resize(size).catch(() => {});
    }
    busy = false;
  };
  from.on('data', (bytes: Buffer) => {
    latest = decoder.push(bytes).at(-1) ?? latest;
    if (!busy) void apply();
  });
}
