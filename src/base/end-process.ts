import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** The part of `process` that is needed here. */
export interface EndingProcess {
  readonly pid: number;
  getActiveResourcesInfo(): readonly string[];
  exit(code: number): void;
  kill(pid: number, signal: 'SIGKILL'): unknown;
}

export interface EndProcessDeps {
  readonly process: EndingProcess;
  readonly clock: Pick<Clock, 'schedule' | 'monotonicMs'>;
  readonly log: Pick<Logger, 'warn'>;
}

/** What Node calls work of its threads that the kernel may never end: calls of file systems, and names that are looked up. */
const ofThreads = /^(FSReq|GetAddrInfo|GetNameInfo)/;
const LOOK_MS = 20;

/**
 * Ends the process with the code. Node's exit waits for its threads, and hears no signal meanwhile: where one of them hangs, in a file system or
 * at a name server, it would never come to an end. So they have `withinMs`; after that the process kills itself, and there is no code.
 */
export function endProcess(code: number, withinMs: number, { process, clock, log }: EndProcessDeps): void {
  const untilMs = clock.monotonicMs() + withinMs;
  const look = (): void => {
    const hanging = process.getActiveResourcesInfo().filter((name) => ofThreads.test(name));
    if (hanging.length === 0) process.exit(code);
    else if (clock.monotonicMs() < untilMs) clock.schedule(look, LOOK_MS);
    else {
      const found = [...new Set(hanging)].map((name) => `${name}: ${hanging.filter((each) => each === name).length}`).join(', ');
      log.warn('files or name servers do not answer, and would hold up the end: ending by SIGKILL', { code, withinMs, hanging: found });
      process.kill(process.pid, 'SIGKILL');
    }
  };
  look();
}
