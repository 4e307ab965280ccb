import type { Duplex, Readable, Writable } from 'node:stream';
import type { ContainerId, SandboxId } from './container-runtime.ts';

export interface TerminalSize {
  /** Characters. */
  readonly width: number;
  readonly height: number;
}

/** Which of a process's streams are wanted. With a terminal there is one output, `stdout`. */
export interface StreamsWanted {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** A process's streams. Who opened it reads every output to its end, or aborts the signal that it was opened with. */
export interface ContainerSession {
  /** Ending it closes the process's standard input. Undefined when it was not asked for. */
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** Without effect when there is no terminal, or the process has ended. */
  resize(size: TerminalSize): Promise<void>;
  /** The exit code, once the process has ended and its outputs have; undefined when it goes on without us (attach). Rejects when the connection broke. */
  readonly ended: Promise<number | undefined>;
}

/** What v1.PodLogOptions asks of a log, times in milliseconds since the epoch. Undefined: everything. */
export interface LogOptions {
  readonly follow: boolean;
  readonly timestamps: boolean;
  /** Lines from the end. */
  readonly tailLines?: number;
  readonly sinceMs?: number;
  readonly limitBytes?: number;
  /** "Stdout" or "Stderr" alone. */
  readonly stream?: 'Stdout' | 'Stderr';
}

/** One piece of a container's output: whole lines, or what the container left unfinished. */
export interface LogPiece {
  readonly stream: 'stdout' | 'stderr';
  /** Good until the next piece is asked for: many readers of big logs make no garbage. */
  readonly bytes: Uint8Array;
}

/** How people, probes and hooks reach into a container. Every call rejects when the container or sandbox is not there or does not run, in words for people. */
export interface ContainerAccess {
  /** Starts a process in the container. An abort of `signal` ends the connection. */
  exec(id: ContainerId, command: readonly string[], wanted: StreamsWanted, signal: AbortSignal): Promise<ContainerSession>;
  /** Joins the container's first process. `tty` is what the container has, not what is asked for. */
  attach(id: ContainerId, wanted: StreamsWanted, signal: AbortSignal): Promise<ContainerSession>;
  /** Connects to the port on the loopback address of the sandbox's network. */
  dial(sandbox: SandboxId, port: number, signal: AbortSignal): Promise<Duplex>;
  /**
   * What the container has written, alive or dead, oldest first, with the back-pressure of who iterates. With `follow` it goes on until
   * the container has ended, or `signal` aborts. Aborting ends the iteration without an error.
   */
  logs(id: ContainerId, options: LogOptions, signal: AbortSignal): AsyncIterable<LogPiece>;
  /**
   * Writes all that the running container is into an archive that does not exist yet; the container goes on. Rejects after `timeoutMs`, or the
   * engine's own deadline where that is longer. Absent: the engine has no checkpoints that can be taken elsewhere.
   */
  checkpoint?(id: ContainerId, file: string, timeoutMs: number, signal: AbortSignal): Promise<void>;
}
