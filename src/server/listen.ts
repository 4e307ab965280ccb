import { once } from 'node:events';
import type { Server } from 'node:net';
import { errorCode } from '../base/error-code.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';

export interface ListenAddress {
  readonly address: string;
  readonly port: number;
  /** The flag that chooses another port, without dashes. */
  readonly portFlag: string;
  readonly addressFlag: string;
}

/** Resolves once the server accepts connections. Rejects with words for the user: which port, why not, and what to do. */
export async function listenOn(server: Server, where: ListenAddress): Promise<void> {
  const { address, port } = where;
  // As Go listens: on every address, of both families where the machine has both.
  const host = address === '0.0.0.0' || address === '::' ? {} : { host: address };
  try {
    server.listen({ port, ...host });
    await once(server, 'listening');
  } catch (cause) {
    throw new ListenError(explain(cause, where), { cause });
  }
}

/** A port cannot be had, now. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const RETRY_EVERY_MS = 5_000;

/** Listens as soon as that works: for what is not worth ending for. Says once why not. Calls `onTried` once, after the first try. Resolves without it when aborted. */
export async function keepTrying(
  listen: () => Promise<void>,
  { clock, log, onTried }: { readonly clock: Clock; readonly log: Logger; readonly onTried: () => void },
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await listen();
      if (failures > 0) log.info('listening');
      else onTried();
      return;
    } catch (error) {
      if (failures === 0) {
        log.warn('cannot listen, retrying', { error, everyMs: RETRY_EVERY_MS });
        onTried();
      }
      await clock.sleep(RETRY_EVERY_MS, signal).catch(() => undefined);
    }
  }
}

function explain(error: unknown, { address, port, portFlag, addressFlag }: ListenAddress): string {
  switch (errorCode(error) ?? '') {
    case 'EADDRINUSE':
      return `port ${port} on ${address} is taken by another process: end it (a kubelet on the same machine?), or choose another port with --${portFlag}`;
    case 'EACCES':
      return `this user may not listen on port ${port} on ${address}: run as root, or choose a port from 1024 on with --${portFlag}`;
    case 'EADDRNOTAVAIL':
      return `${address} is no address of this machine: correct --${addressFlag}`;
    default:
      return `cannot listen on port ${port} on ${address}`;
  }
}
