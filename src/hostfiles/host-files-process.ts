import { type ChildProcess, spawn } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';
import type { Subscription } from 'rxjs';
import { abortable } from '../base/abortable.ts';
import { anySignal } from '../base/any-signal.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { MountPoint } from '../base/mount-info.ts';
import { formatTime } from '../model/time.ts';
import type { HostFiles, HostTask, SilentFileSystem } from '../ports/host-files.ts';
import { ALIVE_MS, type HostFilesReply, type HostFilesRequest, THREADS } from './messages.ts';

export interface HostFilesProcessDeps {
  readonly clock: Pick<Clock, 'schedule'>;
  readonly log: Logger;
  /** The program that serves: a module that calls serveHostFiles. */
  readonly program: string;
  /** What is mounted. */
  readonly table: () => readonly MountPoint[];
  /** Ends everything that is under way. */
  readonly stop: AbortSignal;
}

/** It is as big as Node, and few pods need it. */
const IDLE_MS = 30_000;
/** It says that it is alive more often, so that it cannot be well. */
const DEAF_MS = 6 * ALIVE_MS;
const MAX_COMPLAINT = 1_000;
const NODE_FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=128', '--disable-warning=ExperimentalWarning'];

interface Waiting {
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

/**
 * HostFiles in a process of their own, as a thread that hangs in a file system cannot be taken back and a process with one cannot end. It is
 * started for the first task and ends some time after the last; while something hangs it stays, and hears by that when it is answered. It
 * does any number of tasks side by side. This process never waits for its end.
 */
export class HostFilesProcess implements HostFiles {
  readonly #deps: HostFilesProcessDeps;
  #child: Child | undefined;

  constructor(deps: HostFilesProcessDeps) {
    this.#deps = deps;
    deps.stop.addEventListener('abort', () => this.#child?.end(deps.stop.reason), { once: true });
  }

  run<Args, Result>(task: HostTask<Args, Result>, args: Args, signal: AbortSignal): Promise<Result> {
    const either = anySignal(signal, this.#deps.stop);
    if (either.signal.aborted) return Promise.reject(either.signal.reason);
    if (this.#child === undefined || this.#child.isOver) this.#child = new Child(this.#deps);
    return this.#child.ask(task.name, args, either.signal).finally(() => either[Symbol.dispose]()) as Promise<Result>;
  }

  silent(): readonly SilentFileSystem[] {
    return this.#child?.silent ?? [];
  }
}

class Child {
  readonly #deps: HostFilesProcessDeps;
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #count = 0;
  #complaint = '';
  #silent: readonly SilentFileSystem[] = [];
  /** Ends it when it has nothing to do, or says nothing although it has. */
  #timer: Subscription | undefined;
  #isOver = false;

  constructor(deps: HostFilesProcessDeps) {
    this.#deps = deps;
    this.#process = spawn(process.execPath, [...NODE_FLAGS, deps.program], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      cwd: '/',
      // Without an environment of its own: NODE_OPTIONS is meant for the agent.
      env: { PATH: process.env['PATH'], UV_THREADPOOL_SIZE: String(THREADS) },
      // A group of its own, which ends with what it has started.
      detached: true,
    });
    this.#process.on('message', (reply: HostFilesReply) => this.#heard(reply));
    this.#process.once('error', (cause) => this.end(new Error(`cannot start the process that looks at files of pods: ${cause.message}`)));
    this.#process.once('exit', (code, signal) =>
      this.end(
        new Error(`the process that looks at files of pods ended (${code ?? signal}): ${this.#complaint.trim() || 'it said nothing'}`),
      ),
    );
    this.#process.stderr?.on('data', (text: Buffer) => {
      this.#complaint = (this.#complaint + text.toString()).slice(0, MAX_COMPLAINT);
    });
    // None of it keeps this process from ending.
    this.#process.unref();
    this.#process.channel?.unref();
    if (this.#process.stderr && 'unref' in this.#process.stderr && typeof this.#process.stderr.unref === 'function') {
      this.#process.stderr.unref();
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What is mounted no more is in no pod's way, whatever still hangs in it. */
  get silent(): readonly SilentFileSystem[] {
    if (this.#silent.length === 0) return [];
    const mounted = new Set(this.#deps.table().map(({ device }) => device));
    return this.#silent.filter(({ device }) => mounted.has(device));
  }

  ask(task: string, args: unknown, signal: AbortSignal): Promise<unknown> {
    const id = this.#count++;
    return abortable(signal, (resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      if (this.#waiting.size === 1) this.#watch();
      this.#send({ id, task, args });
      return (aborted) => {
        this.#waiting.delete(id);
        if (this.#waiting.size === 0) this.#rest();
        if (aborted) this.#send({ cancel: id });
      };
    });
  }

  /** Those who wait get the reason. It is not waited for: a call that hangs may hold it for as long as it hangs. */
  end(why: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.unsubscribe();
    this.#tellOf([]);
    const { pid } = this.#process;
    if (pid !== undefined && this.#process.exitCode === null && this.#process.signalCode === null) {
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
    }
    this.#process.stderr?.destroy();
    for (const waiting of this.#waiting.values()) waiting.reject(why);
  }

  #send(request: HostFilesRequest): void {
    if (this.#isOver) return;
    this.#process.channel?.ref();
    this.#process.send?.(request, (error) => {
      if (error && 'id' in request) this.#waiting.get(request.id)?.reject(error);
    });
  }

  #heard(reply: HostFilesReply): void {
    if (this.#isOver) return;
    if ('silent' in reply) this.#tellOf(reply.silent);
    else if ('error' in reply) {
      const { message, code } = reply.error;
      this.#waiting.get(reply.id)?.reject(Object.assign(new Error(message), code === undefined ? {} : { code }));
    } else if ('id' in reply) this.#waiting.get(reply.id)?.resolve(reply.result);
    if (this.#waiting.size > 0) this.#watch();
  }

  #watch(): void {
    this.#timer?.unsubscribe();
    this.#timer = this.#deps.clock.schedule(
      () => this.end(new Error(`the process that looks at files of pods has said nothing for ${DEAF_MS / 1000} s`)),
      DEAF_MS,
    );
  }

  #rest(): void {
    this.#process.channel?.unref();
    this.#timer?.unsubscribe();
    if (this.#isOver) return;
    this.#timer = this.#deps.clock.schedule(() => {
      // What hangs will say when it is answered.
      if (this.silent.length > 0) this.#rest();
      else this.end(new Error('it has nothing to do'));
    }, IDLE_MS);
  }

  #tellOf(silent: readonly SilentFileSystem[]): void {
    const { log } = this.#deps;
    const isIn = (all: readonly SilentFileSystem[], each: SilentFileSystem): boolean => all.some((one) => isDeepStrictEqual(one, each));
    for (const { mount, path, sinceMs } of silent.filter((each) => !isIn(this.#silent, each)))
      log.warn('file system does not answer; pods with volumes on it wait', { mount, path, since: formatTime(sinceMs) });
    for (const { mount, sinceMs } of this.#isOver ? [] : this.#silent.filter((each) => !isIn(silent, each)))
      log.info('file system answers again', { mount, since: formatTime(sinceMs) });
    this.#silent = silent;
    if (this.#waiting.size === 0) this.#rest();
  }
}
