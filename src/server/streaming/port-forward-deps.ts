import type { Duplex } from 'node:stream';
import { errorText } from '../../base/error-text.ts';
import type { StreamingDeps } from './remote-streams.ts';

export interface PortForwardDeps extends StreamingDeps {
  /** Connects to a port of the pod. What it rejects with, the client reads. An abort of `signal` ends the connection. */
  dial(port: number, signal: AbortSignal): Promise<Duplex>;
  /** What messages call the pod: the id of its sandbox, with a runtime as dockershim. */
  readonly pod: string;
}

/** As portForward of pkg/kubelet/cri/streaming/portforward; a runtime knows no uid. */
export const portForwardFailure = (port: number, pod: string, error: unknown): string =>
  `error forwarding port ${port} to pod ${pod}, uid : ${errorText(error)}`;
