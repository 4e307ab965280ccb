import { connect } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { dialErrorText, dialTimeoutText } from './dial-error.ts';
import type { ProbeOutcome } from './probe-outcome.ts';

export interface TcpProbeOptions {
  readonly clock: Pick<Clock, 'schedule'>;
  readonly timeoutMs: number;
}

/** A port that takes a connection is fine (pkg/probe/tcp). Rejects with the signal's reason only. */
export function tcpProbe(host: string, port: number, { clock, timeoutMs }: TcpProbeOptions, signal: AbortSignal): Promise<ProbeOutcome> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const socket = connect({ host, port });
    const settle = (end: () => void): void => {
      deadline.unsubscribe();
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      end();
    };
    const fail = (output: string): void => settle(() => resolve({ result: 'failure', output }));
    const deadline = clock.schedule(() => fail(dialTimeoutText(host, port)), timeoutMs);
    const onAbort = (): void => settle(() => reject(signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => settle(() => resolve({ result: 'success', output: '' })));
    socket.on('error', (error) => fail(dialErrorText(error, host, port) ?? `dial tcp: ${errorText(error)}`));
  });
}
