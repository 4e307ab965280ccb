import { accessSync, constants } from 'node:fs';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** The part of `process` that is needed here. */
export interface EndingProcess {
  readonly pid: number;
  getActiveResourcesInfo(): readonly string[];
  /** Calls those who listen to the end. */
  emit(event: 'exit', code: number): unknown;
  /** Becomes another program. */
  execve?(file: string, words: readonly string[], env: Readonly<Record<string, string>>): unknown;
  exit(code: number): void;
  kill(pid: number, signal: 'SIGKILL'): unknown;
}

export interface EndProcessDeps {
  readonly process: EndingProcess;
  readonly clock: Pick<Clock, 'schedule' | 'monotonicMs'>;
  readonly log: Pick<Logger, 'warn'>;
  /** Whether this program can be run. */
  readonly canRun?: (file: string) => boolean;
}

/** What Node calls work of its threads that the kernel may never end: calls of file systems, and names that are looked up. */
const ofThreads = /^(FSReq|GetAddrInfo|GetNameInfo)/;
const LOOK_MS = 20;
const SHELL = '/bin/sh';

/**
 * Ends the process with the code. Node's own exit waits for all its threads and hears no signal meanwhile: it hangs for good where one of them
 * does, in a file system or at a name server, and sometimes where one that compiles code waits for the garbage collection of a main thread that
 * has ended (https://github.com/nodejs/node/issues/54918). So the process becomes a shell that only exits: the kernel ends the threads.
 * Files and names that are still asked for have `withinMs` before that; 0: none. Where there is no shell, Node's exit has to do, and SIGKILL after it.
 */
export function endProcess(code: number, withinMs: number, { process, clock, log, canRun = isExecutable }: EndProcessDeps): void {
  const leave = (orElse: () => void): void => {
    if (!process.execve || !canRun(SHELL)) return orElse();
    process.emit('exit', code);
    process.execve(SHELL, ['sh', '-c', `exit ${code}`], {});
  };
  const untilMs = clock.monotonicMs() + withinMs;
  const look = (): void => {
    const hanging = process.getActiveResourcesInfo().filter((name) => ofThreads.test(name));
    if (hanging.length === 0) leave(() => process.exit(code));
    else if (clock.monotonicMs() < untilMs) clock.schedule(look, LOOK_MS);
    else {
      const found = [...new Set(hanging)].map((name) => `${name}: ${hanging.filter((each) => each === name).length}`).join(', ');
      // With no time to answer they have done nothing wrong.
      if (withinMs > 0) log.warn('files or name servers do not answer, ending without them', { code, withinMs, hanging: found });
      leave(() => process.kill(process.pid, 'SIGKILL'));
    }
  };
  look();
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
