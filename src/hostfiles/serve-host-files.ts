import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/error-code.ts';
import { errorText } from '../base/error-text.ts';
import { mountsNow } from '../base/mount-info.ts';
import type { Touch } from '../base/touch.ts';
import { FileSystemGuard } from './file-system-guard.ts';
import { ALIVE_MS, type HostFilesReply, type HostFilesRequest, THREADS } from './messages.ts';

/** A task as it is found by its name: what comes in is what HostFiles.run was given. */
export interface NamedTask {
  readonly name: string;
  run(args: never, touch: Touch): Promise<unknown>;
}

/** The part of `process` that is needed here. */
export interface ServingProcess {
  send(reply: HostFilesReply): void;
  onRequest(heard: (request: HostFilesRequest) => void): void;
  /** The agent has gone. */
  onDisconnect(heard: () => void): void;
  /** Ends it, whatever hangs in it. */
  end(): void;
}

/** The other end of HostFilesProcess: does tasks, side by side, until the agent has gone. */
export function serveHostFiles(process: ServingProcess, tasks: readonly NamedTask[], clock: Clock): void {
  const byName = new Map(tasks.map((task) => [task.name, task]));
  const running = new Map<number, AbortController>();
  const reply = (message: HostFilesReply): void => process.send(message);
  const guard = new FileSystemGuard({
    clock,
    // Of the kernel's own, which always answers; a thread for it could be one too many.
    table: () => mountsNow(),
    onChange: (silent) => reply({ silent }),
    threads: THREADS - 8,
  });
  const sayAlive = (): void => {
    if (running.size === 0) return;
    reply({ alive: true });
    clock.schedule(sayAlive, ALIVE_MS);
  };

  const serve = async (id: number, name: string, args: unknown): Promise<void> => {
    const cancelled = new AbortController();
    running.set(id, cancelled);
    if (running.size === 1) clock.schedule(sayAlive, ALIVE_MS);
    try {
      const task = byName.get(name);
      if (task === undefined) throw new Error(`there is no task ${name}`);
      const result = await task.run(args as never, (path, call) => guard.touch(path, call, cancelled.signal));
      reply({ id, result });
    } catch (error) {
      const code = errorCode(error);
      reply({ id, error: { message: errorText(error), ...(code === undefined ? {} : { code }) } });
    } finally {
      running.delete(id);
    }
  };

  process.onRequest((request) => {
    if ('cancel' in request) running.get(request.cancel)?.abort(new Error('the caller has given up'));
    else void serve(request.id, request.task, request.args);
  });
  process.onDisconnect(() => process.end());
}
