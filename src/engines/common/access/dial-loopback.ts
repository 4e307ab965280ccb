import { connect, type Socket } from 'node:net';
import { abortable } from '../../../base/abortable.ts';
import { errorCode } from '../../../base/error-code.ts';

const LOOPBACKS = ['127.0.0.1', '::1'] as const;

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  EADDRNOTAVAIL: 'cannot assign requested address',
  EMFILE: 'too many open files',
};

/** As Go words it: what people know from port forwarding. */
export function dialError(port: number, code: string): Error {
  return new Error(`dial tcp ${LOOPBACKS[0]}:${port}: connect: ${words[code] ?? code}`);
}

/** Connects to a port of this process's own network, by IPv4 or else by IPv6. Either end may close its half alone. */
export async function dialLoopback(port: number, signal: AbortSignal): Promise<Socket> {
  const [v4, v6] = LOOPBACKS;
  try {
    return await dial(v4, port, signal);
  } catch (error) {
    signal.throwIfAborted();
    try {
      return await dial(v6, port, signal);
    } catch {
      throw dialError(port, errorCode(error) ?? String(error));
    }
  }
}

function dial(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return abortable(signal, (resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket));
    return (aborted) => {
      if (aborted) socket.destroy();
      else socket.off('error', reject);
    };
  });
}
