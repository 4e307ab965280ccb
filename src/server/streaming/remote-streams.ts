import type { Duplex, Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';

/** The client's end of an exec or attach, whatever the protocol. */
export interface RemoteStreams {
  readonly stdin: Readable | undefined;
  readonly stdout: Duplex | undefined;
  readonly stderr: Duplex | undefined;
  readonly resize: Readable | undefined;
  /** Carries the status, in JSON or as bare text. */
  readonly error: Duplex;
  readonly jsonStatus: boolean;
  /** Aborts when the connection is over, for whatever reason. */
  readonly over: AbortSignal;
  /** Sends what waits and closes the connection. Resolves when it is closed. */
  close(): Promise<void>;
}

export interface StreamingDeps {
  /** Connections on which nothing happens for so long are closed (streamingConnectionIdleTimeout). 0: never. */
  readonly idleTimeoutMs: number;
  /** How long a client may take to create the streams it announced. */
  readonly streamCreationTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The kubelet's own, which cannot be configured (pkg/kubelet/cri/streaming/remotecommand DefaultStreamCreationTimeout). */
export const DEFAULT_STREAM_CREATION_TIMEOUT_MS = 30_000;
