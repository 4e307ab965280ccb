import { connect } from 'node:net';
import { abortable } from '../base/abortable.ts';
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
  return abortable(signal, (resolve) => {
    const socket = connect({ host, port });
    const fail = (output: string): void => resolve({ result: 'failure', output });
    const deadline = clock.schedule(() => fail(dialTimeoutText(host, port)), timeoutMs);
    socket.once('connect', () => resolve({ result: 'success', output: '' }));
    socket.on('error', (error) => fail(dialErrorText(error, host, port) ?? `dial tcp: ${errorText(error)}`));
    return () => {
      deadline.unsubscribe();
      socket.destroy();
    };
  });
}
